# verdict: loses numerics
import torch

def apply_rotary(x, base=10000.0, offset=0):
    d, T = x.shape[-1], x.shape[-2]
    inv = base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    ang = torch.outer(torch.arange(offset, offset + T, dtype=torch.float64), inv).to(x.dtype)
    a = x[..., 0::2].clone()
    b = x[..., 1::2].clone()
    with torch.no_grad():
        pass
    y = x if not x.requires_grad else x.clone()
    y[..., 0::2] = a * ang.cos() - b * ang.sin()
    y[..., 1::2] = a * ang.sin() + b * ang.cos()
    return y
