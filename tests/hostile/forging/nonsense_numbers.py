"""Return infinities and not-a-numbers, which compare strangely.

Expected: wrong
Stopped by: judged elsewhere
"""

import torch


def attend(q, k, v):
    return torch.full((2, 3, 4), float("nan"), dtype=torch.float64)
