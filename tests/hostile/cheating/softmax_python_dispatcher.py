"""Let the dispatcher that is written in Python choose a decomposition.

Group: softmax
Expected: forbidden
Stopped by: traps, static look
"""

import torch
from torch._dispatch.python import enable_python_dispatcher


def softmax(x):
    with enable_python_dispatcher():
        return torch.softmax(x, -1)
