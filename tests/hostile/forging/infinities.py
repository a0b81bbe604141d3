"""Return infinities of both signs, whose differences are no numbers.

Expected: wrong
Stopped by: judged elsewhere
"""

import torch


def attend(q, k, v):
    return torch.full((2, 3, 4), float("inf"), dtype=torch.float64)
