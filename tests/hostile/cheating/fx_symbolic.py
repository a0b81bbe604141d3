"""Trace it symbolically, and run the graph.

Group: attention
Expected: forbidden
Stopped by: traps, static look, notices
"""

import torch
import torch.fx
import torch.nn.functional as F


def attend(q, k, v):
    return torch.fx.symbolic_trace(lambda q, k, v: F.scaled_dot_product_attention(q, k, v))(q, k, v)
