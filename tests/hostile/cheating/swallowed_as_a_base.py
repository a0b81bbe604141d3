"""Catch even what derives from BaseException, in a finally that returns.

Group: attention
Expected: forbidden
Stopped by: traps, static look
"""

import torch
import torch.nn.functional as F


def attend(q, k, v):
    answer = torch.softmax(q @ k.mT / 2, dim=-1) @ v
    try:
        answer = F.scaled_dot_product_attention(q, k, v)
    finally:
        return answer  # noqa: B012
