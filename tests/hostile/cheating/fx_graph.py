"""Trace it into a graph of smaller operations, and run the graph.

Group: attention
Expected: error ImportError
Stopped by: nothing more can be imported, static look
Without traps: error ImportError
"""

import torch.nn.functional as F
from torch.fx.experimental.proxy_tensor import make_fx


def attend(q, k, v):
    return make_fx(F.scaled_dot_product_attention)(q, k, v)(q, k, v)
