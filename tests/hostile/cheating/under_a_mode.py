"""Call it inside a dispatch mode, where the modes are off.

Group: attention
Expected: forbidden
Stopped by: traps, static look
"""

import torch
import torch.nn.functional as F
from torch.utils._python_dispatch import TorchDispatchMode


class Inside(TorchDispatchMode):
    def __torch_dispatch__(self, function, types, arguments=(), options=None):
        return F.scaled_dot_product_attention(*self.tensors)


def attend(q, k, v):
    mode = Inside()
    mode.tensors = (q, k, v)
    with mode:
        return torch.relu(q)
