"""Call the definition that torch keeps in Python.

Group: dropout
Expected: forbidden
Stopped by: traps, static look
"""

import torch
import torch._refs.nn.functional


def drop(x):
    return torch._refs.nn.functional.dropout(x, 0.5)
