"""Replace `os.write`, so that the answer goes nowhere.

Expected: wrong
Stopped by: held names
"""

import os

import torch

os.write = lambda descriptor, data: len(data)


def attend(q, k, v):
    return torch.zeros(2, 3, 4, dtype=torch.float64)
