# verdict: loses numerics
import torch


def apply_rotary(x, base=10000.0, offset=0):
    d = x.shape[-1]
    t = (torch.arange(x.shape[2]) + offset).half()
    a = torch.outer(t, (base ** (-torch.arange(0, d, 2) / d)).half()).to(x.dtype)
    even, odd = x[..., ::2], x[..., 1::2]
    return torch.stack([even * a.cos() - odd * a.sin(), even * a.sin() + odd * a.cos()], dim=-1).flatten(-2)
