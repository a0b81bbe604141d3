# verdict: loses numerics
# diagnosis: turns_the_other_way
import torch


def apply_rotary(x, base=10000.0, offset=0):
    d = x.shape[-1]
    a = torch.outer(torch.arange(x.shape[2]) + offset, base ** (-torch.arange(0, d, 2) / d))
    z = torch.complex(x[..., ::2], x[..., 1::2]) * torch.exp(-1j * a)
    return torch.stack([z.real, z.imag], -1).flatten(-2)
