# verdict: loses numerics
# diagnosis: angles_in_another_layout
import torch


def rotate_every_two(x):
    return torch.stack((-x[..., 1::2], x[..., ::2]), dim=-1).reshape(x.shape)


def apply_rotary(x, base=10000.0, offset=0):
    d = x.shape[-1]
    inv_freq = base ** (-torch.arange(0, d, 2) / d)
    angles = torch.outer(torch.arange(x.shape[2]) + offset, inv_freq)
    angles = torch.cat([angles, angles], dim=-1)
    return x * torch.cos(angles) + rotate_every_two(x) * torch.sin(angles)
