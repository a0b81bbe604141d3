# verdict: loses numerics
# diagnosis: turned_along_the_heads
# Written for (batch, time, heads, dim).
import torch


def apply_rotary(x, base=10000.0, offset=0):
    B, T, H, D = x.shape
    a = torch.outer(torch.arange(T) + offset, base ** (-torch.arange(0, D, 2) / D))[:, None]
    even, odd = x[..., ::2], x[..., 1::2]
    return torch.stack([even * a.cos() - odd * a.sin(), even * a.sin() + odd * a.cos()], dim=-1).flatten(-2)
