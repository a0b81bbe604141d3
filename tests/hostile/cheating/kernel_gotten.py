"""Fetch a kernel by `torch.library.get_kernel` and call it without the dispatcher.

Group: attention
Expected: forbidden
Stopped by: traps, static look
"""

import torch
import torch.library


def attend(q, k, v):
    kernel = torch.library.get_kernel("aten::scaled_dot_product_attention", "CPU")
    keys = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)
    return kernel.call_boxed(keys, q, k, v)
