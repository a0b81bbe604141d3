"""Subtract the ready-made normaliser.

Group: softmax
Expected: forbidden
Stopped by: traps, static look
"""

import torch


def softmax(x):
    return (x - torch.logsumexp(x, -1, keepdim=True)).exp()
