"""Make the kernel of the CPU fall through to the next one.

Group: attention
Expected: error RuntimeError
Stopped by: torch itself, static look
Without traps: error RuntimeError
"""

import torch
import torch.library
import torch.nn.functional as F


def attend(q, k, v):
    library = torch.library.Library("aten", "IMPL")
    for key in ("CPU", "AutogradCPU", "CompositeImplicitAutograd"):
        library.impl("scaled_dot_product_attention", torch.library.fallthrough_kernel, key)
    return F.scaled_dot_product_attention(q, k, v)
