"""Trace the call into a graph with the compiler's decompositions, and run the graph.

Group: softmax
Expected: error ImportError
Stopped by: nothing more can be imported, static look
Without traps: error ImportError
"""

import torch
from torch._decomp import core_aten_decompositions
from torch.fx.experimental.proxy_tensor import make_fx


def softmax(x):
    return make_fx(lambda one: torch.softmax(one, -1), core_aten_decompositions())(x)(x)
