"""Call the definition that torch keeps in Python.

Group: softmax
Expected: forbidden
Stopped by: traps, static look
"""

import torch
import torch._refs


def softmax(x):
    return torch._refs.softmax(x, -1)
