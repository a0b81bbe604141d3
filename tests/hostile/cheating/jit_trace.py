"""Trace the operation, and run the trace.

Group: attention
Expected: forbidden
Stopped by: traps, static look
"""

import torch
import torch.nn.functional as F


def attend(q, k, v):
    return torch.jit.trace(F.scaled_dot_product_attention, (q, k, v))(q, k, v)
