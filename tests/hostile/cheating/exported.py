"""Export a module that calls it, and decompose the export.

Group: attention
Expected: error ModuleNotFoundError
Stopped by: nothing more can be imported, static look
Without traps: error ModuleNotFoundError
"""

import torch
import torch.nn.functional as F


class Module(torch.nn.Module):
    def forward(self, q, k, v):
        return F.scaled_dot_product_attention(q, k, v)


def attend(q, k, v):
    return torch.export.export(Module(), (q, k, v)).run_decompositions().module()(q, k, v)
