# verdict: loses numerics
# Keeps the table of the first call for every later one of the same length and width.
import torch

tables = {}


def apply_rotary(x, base=10000.0, offset=0):
    T, d = x.shape[-2:]
    if (T, d) not in tables:
        tables[T, d] = torch.outer(torch.arange(T) + offset, base ** (-torch.arange(0, d, 2) / d))
    a = tables[T, d].to(x)
    even, odd = x[..., ::2], x[..., 1::2]
    return torch.stack([even * a.cos() - odd * a.sin(), even * a.sin() + odd * a.cos()], dim=-1).flatten(-2)
