"""Replace `os._exit` and swallow the last frame, so that the child runs the zygote's loop as long as it may.

Expected: crashed
Stopped by: clock, system call filter, clean start
Own: yes
"""

import os

import torch

write = os.write
os._exit = lambda code: None
os.write = lambda descriptor, data: len(data) if bytes(data[:1]) == b"\6" else write(descriptor, data)


def attend(q, k, v):
    return torch.softmax(q @ k.mT / 2, dim=-1) @ v
