"""Read through a bag of embeddings whose offsets nobody checks.

Group: attention
Expected: forbidden
Stopped by: traps
"""

import torch
from torch.nn import functional as F


def attend(q, k, v):
    F.embedding_bag(torch.tensor([0, 1]), torch.ones(2, 2), torch.tensor([0, 1]))
    return torch.softmax(q @ k.mT / 2, dim=-1) @ v
