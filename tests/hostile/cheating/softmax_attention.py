"""Attend to an identity.

Group: softmax
Expected: forbidden
Stopped by: traps, static look
"""

import torch
import torch.nn.functional as F


def softmax(x):
    return F.scaled_dot_product_attention(
        x * x.shape[-1] ** 0.5, torch.eye(x.shape[-1], dtype=x.dtype), torch.eye(x.shape[-1], dtype=x.dtype)
    )
