# verdict: loses numerics
# diagnosis: one_frequency_for_all
import torch


def apply_rotary(x, base=10000.0, offset=0):
    d = x.shape[-1]
    freq = 1.0 / base ** (torch.arange(0, d, 2) // d).to(x.dtype)
    a = (torch.arange(x.shape[2]) + offset)[:, None] * freq
    even, odd = x[..., ::2], x[..., 1::2]
    return torch.stack([even * a.cos() - odd * a.sin(), even * a.sin() + odd * a.cos()], dim=-1).flatten(-2)
