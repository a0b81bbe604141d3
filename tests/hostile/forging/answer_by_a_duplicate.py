"""Duplicate the result's descriptor, let the box finish, and write over it at the very end.

Expected: right
Stopped by: system call filter, own fork
Own: yes
"""

import atexit
import os

import torch

copy = os.dup(4)
atexit.register(os.write, copy, b"one more thing")


def attend(q, k, v):
    return torch.softmax(q @ k.mT / 2, dim=-1) @ v
