# verdict: loses numerics
# diagnosis: exponent_doubled
import torch


def apply_rotary(x, base=10000.0, offset=0):
    half = x.shape[-1] // 2
    a = torch.outer(torch.arange(x.shape[2]) + offset, base ** (-2 * torch.arange(half) / half))
    even, odd = x[..., ::2], x[..., 1::2]
    return torch.stack([even * a.cos() - odd * a.sin(), even * a.sin() + odd * a.cos()], dim=-1).flatten(-2)
