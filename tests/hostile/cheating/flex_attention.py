"""Call the attention that takes a function.

Group: attention
Expected: forbidden
Stopped by: traps, static look
Without traps: error RuntimeError
"""

from torch.nn.attention.flex_attention import flex_attention


def attend(q, k, v):
    return flex_attention(q[:, None], k[:, None], v[:, None])[:, 0]
