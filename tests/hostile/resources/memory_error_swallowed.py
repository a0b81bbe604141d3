"""Swallow the MemoryError and go on asking.

Expected: timeout or memory
Stopped by: limits, clock
"""

import torch

kept = []
while True:
    try:
        kept.append(torch.ones(1 << 18))
    except (MemoryError, RuntimeError):
        pass
