"""Return an object whose class says that it is a tensor.

Expected: wrong
Stopped by: protocol
Own: yes
"""

import torch


class Liar:
    __class__ = torch.Tensor
    shape = (2, 3, 4)
    dtype = torch.float64


def attend(q, k, v):
    return Liar()
