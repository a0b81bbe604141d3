# verdict: loses numerics
import torch


def apply_rotary(x, base=10000.0, offset=0):
    frequency = base ** (-torch.arange(0, x.shape[-1], 2, dtype=x.dtype) / x.shape[-1])
    angle = torch.outer(torch.arange(8192, dtype=x.dtype), frequency)
    place = (offset + torch.arange(x.shape[-2])).clamp(max=8191)
    cos, sin = angle.cos()[place], angle.sin()[place]
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)
