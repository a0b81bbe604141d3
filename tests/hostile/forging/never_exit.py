"""Take the way out: with the grader's own `_exit` replaced, the child falls back into the zygote's own loop.

Expected: right
Stopped by: clock, system call filter, namespaces
Own: yes
"""

import sys

import torch

frame = sys._getframe()
while frame is not None:  # what `os._exit` is there, the grader has kept for itself
    frame.f_globals["_end"] = lambda code: None
    if "os" in frame.f_globals:
        vars(frame.f_globals["os"])["_exit"] = lambda code: None
    frame = frame.f_back


def attend(q, k, v):
    return torch.softmax(q @ k.mT / 2, dim=-1) @ v
