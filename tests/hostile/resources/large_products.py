"""Multiply matrices for ever, in code that nobody interrupts.

Expected: timeout
Stopped by: limits
"""

import torch

while True:
    torch.ones(700, 700) @ torch.ones(700, 700)
