"""Compile a function that calls it.

Group: attention
Expected: forbidden
Stopped by: traps, static look
"""

import torch
import torch.nn.functional as F


def attend(q, k, v):
    return torch.compile(F.scaled_dot_product_attention)(q, k, v)
