"""Return complex numbers, which are twice as long as announced.

Expected: wrong
Stopped by: protocol
"""

import torch


def attend(q, k, v):
    return torch.zeros(2, 3, 4, dtype=torch.complex128)
