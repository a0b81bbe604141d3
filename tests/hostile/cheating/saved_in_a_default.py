"""Bind the operation as a default argument, at import.

Group: attention
Expected: forbidden
Stopped by: traps, static look
"""

import torch.nn.functional as F


def attend(q, k, v, answer=F.scaled_dot_product_attention):
    return answer(q, k, v)
