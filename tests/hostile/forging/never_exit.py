"""Take the way out: with `os._exit` replaced, the child falls back into the zygote's own loop.

Expected: right
Stopped by: clock, system call filter, namespaces
Own: yes
"""

import os

import torch

os._exit = lambda code: None


def attend(q, k, v):
    return torch.softmax(q @ k.mT / 2, dim=-1) @ v
