"""Replace the grader's way out and swallow the last frame, so that the child runs the zygote's loop as long as it may.

Expected: crashed
Stopped by: clock, system call filter, clean start
Own: yes
"""

import os
import sys

import torch

write = os.write
frame = sys._getframe()
while frame is not None:  # what `os.write` and `os._exit` are there, the grader has kept for itself
    names = frame.f_globals
    names["_end"] = lambda code: None
    if "os" in names:
        vars(names["os"])["_exit"] = lambda code: None
        vars(names["os"])["write"] = lambda descriptor, data: (
            len(data) if bytes(data[:1]) == b"\6" else write(descriptor, data)
        )
    frame = frame.f_back


def attend(q, k, v):
    return torch.softmax(q @ k.mT / 2, dim=-1) @ v
