# verdict: loses numerics
# A table of 2048 positions is made once, and later positions start again from 0.
import torch


def apply_rotary(x, base=10000.0, offset=0):
    d = x.shape[-1]
    table = torch.outer(torch.arange(2048), base ** (-torch.arange(0, d, 2) / d))
    a = table[(torch.arange(x.shape[2]) + offset) % 2048]
    even, odd = x[..., ::2], x[..., 1::2]
    return torch.stack([even * a.cos() - odd * a.sin(), even * a.sin() + odd * a.cos()], dim=-1).flatten(-2)
