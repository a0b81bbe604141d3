"""Call it on complex numbers.

Group: softmax
Expected: forbidden
Stopped by: traps, static look
Without traps: error NotImplementedError
"""

import torch


def softmax(x):
    return torch.softmax(x.to(torch.complex128), -1).real
