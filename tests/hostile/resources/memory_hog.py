"""Allocate tensors until nothing is left.

Expected: error RuntimeError or memory
Stopped by: limits
"""

import torch

kept = []
while True:
    kept.append(torch.ones(1 << 20))
