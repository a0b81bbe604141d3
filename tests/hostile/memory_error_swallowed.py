"""Swallow the MemoryError and go on asking.

Expected: timeout
Stopped by: address space limit, processor time
"""

import torch

kept = []
while True:
    try:
        kept.append(torch.ones(1 << 18))
    except (MemoryError, RuntimeError):
        pass
