# verdict: loses numerics
# diagnosis: uses_the_turned_feature_again
import torch


def apply_rotary(x, base=10000.0, offset=0):
    x = x.clone()
    d = x.shape[-1]
    a = torch.outer(torch.arange(x.shape[2]) + offset, base ** (-torch.arange(0, d, 2) / d))
    x[..., ::2] = x[..., ::2] * a.cos() - x[..., 1::2] * a.sin()
    x[..., 1::2] = x[..., ::2] * a.sin() + x[..., 1::2] * a.cos()
    return x
