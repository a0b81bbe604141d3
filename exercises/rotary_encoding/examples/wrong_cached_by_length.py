# verdict: loses numerics
import torch

_tables = {}

def table(T, d, base, offset):
    if (T, d) not in _tables:
        inv = 1.0 / base ** (torch.arange(0, d, 2).double() / d)
        _tables[T, d] = torch.outer(torch.arange(offset, offset + T).double(), inv)
    return _tables[T, d]

def apply_rotary(x, base=10000.0, offset=0):
    ang = table(x.shape[-2], x.shape[-1], base, offset)
    a, b = x[..., ::2], x[..., 1::2]
    y = torch.stack([a * ang.cos() - b * ang.sin(), a * ang.sin() + b * ang.cos()], -1)
    return y.flatten(-2).to(x.dtype)
