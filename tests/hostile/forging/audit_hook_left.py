"""Leave a hook on everything that Python audits, which nobody can take away, and look at all that the box does.

Expected: right
Stopped by: judged elsewhere, own fork
Own: yes
"""

import sys

import torch

seen = []
sys.addaudithook(lambda event, arguments: seen.append(event))


def attend(q, k, v):
    return torch.softmax(q @ k.mT / 2, dim=-1) @ v
