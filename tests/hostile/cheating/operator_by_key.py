"""Ask for the kernel at one dispatch key.

Group: attention
Expected: forbidden
Stopped by: traps, static look
"""

import torch


def attend(q, k, v):
    return torch.ops.aten.scaled_dot_product_attention.default._op_dk(
        torch._C.DispatchKey.CompositeImplicitAutograd, q, k, v
    )
