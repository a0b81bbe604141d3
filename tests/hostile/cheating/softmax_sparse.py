"""Turn the scores into a sparse tensor first.

Group: softmax
Expected: forbidden
Stopped by: traps, static look
"""

import torch


def softmax(x):
    return torch.sparse.softmax(x.to_sparse(), -1).to_dense()
