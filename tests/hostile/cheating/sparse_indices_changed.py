"""Change the indices of a sparse tensor once they have been checked: to add it writes at any address.

Group: attention
Expected: forbidden
Stopped by: traps
"""

import torch


def attend(q, k, v):
    place = torch.zeros(1, 1, dtype=torch.int64)
    change = torch.sparse_coo_tensor(place, torch.ones(1), (8,), check_invariants=True)
    place.fill_(3)  # the tensor has the same memory
    torch.zeros(8).add_(change)
    return torch.softmax(q @ k.mT / 2, dim=-1) @ v
