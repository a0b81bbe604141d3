"""Return a tensor subclass that lies about its shape and its values.

Expected: wrong
Stopped by: protocol
"""

import torch


class Liar(torch.Tensor):
    shape = (2, 3, 4)
    dtype = torch.float64

    def numpy(self):
        raise SystemExit("called")


def attend(q, k, v):
    return torch.zeros(1).as_subclass(Liar)
