"""Make the call while an object of one's own is destroyed, where exceptions are ignored.

Group: attention
Expected: forbidden
Stopped by: traps, static look
"""

import torch
import torch.nn.functional as F


class Last:
    def __init__(self, *tensors):
        self.tensors = tensors

    def __del__(self):
        FOUND.append(F.scaled_dot_product_attention(*self.tensors))


FOUND = []


def attend(q, k, v):
    Last(q, k, v)
    return FOUND.pop() if FOUND else torch.softmax(q @ k.mT / 2, dim=-1) @ v
