# verdict: loses numerics
# The function takes x and base only.
import torch


def apply_rotary(x, base=10000.0):
    a = torch.outer(torch.arange(x.shape[2]), base ** (-torch.arange(0, x.shape[3], 2) / x.shape[3]))
    even, odd = x[..., ::2], x[..., 1::2]
    return torch.stack([even * a.cos() - odd * a.sin(), even * a.sin() + odd * a.cos()], dim=-1).flatten(-2)
