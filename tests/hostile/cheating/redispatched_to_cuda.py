"""Enter the dispatcher at the key of a device that is not there.

Group: attention
Expected: forbidden
Stopped by: traps, static look
"""

import torch


def attend(q, k, v):
    return torch.ops.aten._scaled_dot_product_attention_math.default.redispatch(
        torch._C.DispatchKeySet(torch._C.DispatchKey.CUDA), q, k, v
    )[0]
