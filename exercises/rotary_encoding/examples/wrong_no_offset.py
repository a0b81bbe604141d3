# verdict: loses numerics
# diagnosis: offset_ignored
import torch


def apply_rotary(x, base=10000.0, offset=0):
    B, H, T, D = x.shape
    freqs = 1.0 / base ** (torch.arange(0, D, 2) / D)
    cis = torch.polar(torch.ones(T, D // 2), torch.outer(torch.arange(T), freqs))
    z = torch.view_as_complex(x.reshape(B, H, T, -1, 2).contiguous())
    return torch.view_as_real(z * cis).flatten(3).to(x.dtype)
