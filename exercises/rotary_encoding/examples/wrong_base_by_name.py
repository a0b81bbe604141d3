# verdict: loses numerics
# diagnosis: base_ignored
import math

import torch


def apply_rotary(x, base=10000.0, offset=0):
    d = x.shape[-1]
    theta = torch.exp(torch.arange(0, d, 2) * -(math.log(10000.0) / d))
    a = torch.outer(torch.arange(offset, offset + x.shape[2]), theta)
    even, odd = x[..., ::2], x[..., 1::2]
    return torch.stack([even * a.cos() - odd * a.sin(), even * a.sin() + odd * a.cos()], dim=-1).flatten(-2)
