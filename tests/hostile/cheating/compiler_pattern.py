"""Call a pattern that the compiler keeps to recognise attention.

Group: attention
Expected: forbidden
Stopped by: traps, static look
Without traps: error ModuleNotFoundError
"""

from torch._inductor.fx_passes.fuse_attention import _sfdp_pattern_1


def attend(q, k, v):
    return _sfdp_pattern_1(q[:, None], k[:, None], v[:, None], 2.0)[:, 0]
