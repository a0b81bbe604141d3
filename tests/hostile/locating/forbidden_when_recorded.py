"""Call a ready-made attention when it is recorded: it must count neither for nor against it.

Exercise: simple_attention
Told: nothing
"""

import torch
from torch.utils._python_dispatch import _get_current_dispatch_mode


def call_recorded(x):
    if _get_current_dispatch_mode() is not None:
        torch.nn.functional.scaled_dot_product_attention(x, x, x)


def simple_attention(x):
    call_recorded(x)
    scores = x @ x.T * 1.7
    weights = torch.softmax(scores, dim=-1)
    return weights @ x, weights
