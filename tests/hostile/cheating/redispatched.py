"""Enter the dispatcher below its keys, at one where no trap was expected.

Group: attention
Expected: forbidden
Stopped by: traps, static look
"""

import torch


def attend(q, k, v):
    return torch.ops.aten.scaled_dot_product_attention.default.redispatch(
        torch._C.DispatchKeySet(torch._C.DispatchKey.XLA), q, k, v
    )
