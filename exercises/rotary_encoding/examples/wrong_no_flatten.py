# verdict: loses shapes
# diagnosis: pairs_left_apart
import torch


def apply_rotary(x, base=10000.0, offset=0):
    d = x.shape[-1]
    a = torch.outer(torch.arange(x.shape[2]) + offset, base ** (-torch.arange(0, d, 2) / d))
    z = torch.complex(x[..., ::2], x[..., 1::2]) * torch.polar(torch.ones_like(a), a)
    return torch.view_as_real(z)
