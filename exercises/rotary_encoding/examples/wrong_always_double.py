# verdict: loses shapes
# What comes in as float32 goes out as float64.
import torch


def apply_rotary(x, base=10000.0, offset=0):
    d = x.shape[-1]
    freq = base ** (-torch.arange(0, d, 2).double() / d)
    a = torch.outer(torch.arange(offset, offset + x.shape[2]).double(), freq)
    even, odd = x[..., ::2], x[..., 1::2]
    return torch.stack([even * a.cos() - odd * a.sin(), even * a.sin() + odd * a.cos()], dim=-1).flatten(-2)
