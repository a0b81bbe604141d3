"""Fetch the operation from the table of the TorchScript interpreter.

Group: attention
Expected: forbidden
Stopped by: traps, static look
"""

import torch


def attend(q, k, v):
    return torch._C._jit_get_operation("aten::scaled_dot_product_attention")[0](q, k, v, None, 0.0, False)
