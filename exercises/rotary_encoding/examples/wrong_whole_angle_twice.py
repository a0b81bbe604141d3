# verdict: loses numerics
# Turns twice: once when called, and once more inside.
import torch


def turn(x, a):
    even, odd = x[..., ::2], x[..., 1::2]
    return torch.stack([even * a.cos() - odd * a.sin(), even * a.sin() + odd * a.cos()], dim=-1).flatten(-2)


def apply_rotary(x, base=10000.0, offset=0):
    d = x.shape[-1]
    a = torch.outer(torch.arange(x.shape[2]) + offset, base ** (-torch.arange(0, d, 2) / d))
    return turn(turn(x, a), a)
