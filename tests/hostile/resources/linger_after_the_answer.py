"""Leave an exit handler that never ends, after a right answer.

Expected: right
Stopped by: clock
"""

import atexit

import torch


def forever():
    while True:
        pass


atexit.register(forever)


def attend(q, k, v):
    return torch.softmax(q @ k.mT / 2, dim=-1) @ v
