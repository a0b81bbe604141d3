"""Return a sparse tensor, whose bytes are not where a dense one's are.

Expected: wrong
Stopped by: protocol, judged elsewhere
"""

import torch


def attend(q, k, v):
    return torch.zeros(2, 3, 4, dtype=torch.float64).to_sparse()
