"""Replace the functions by which tensors are compared and packed.

Expected: wrong
Stopped by: judged elsewhere
"""

import struct

import torch

torch.equal = torch.allclose = lambda *_, **__: True
struct.pack = lambda *_: b""


def attend(q, k, v):
    return torch.zeros(2, 3, 4, dtype=torch.float64)
