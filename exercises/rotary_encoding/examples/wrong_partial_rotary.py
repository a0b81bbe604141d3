# verdict: loses numerics
import torch
from torch import nn

class RotaryEmbedding(nn.Module):
    def __init__(self, dim, base=10000, interpolation_factor=1.):
        super().__init__()
        inv_freq = 1. / (base ** (torch.arange(0, dim, 2, dtype=torch.float64) / dim))
        self.register_buffer('inv_freq', inv_freq)
        self.interpolation_factor = interpolation_factor

    def forward(self, t):
        if t.ndim == 1:
            t = t[None, :]
        freqs = torch.einsum('b i , j -> b i j', t.type_as(self.inv_freq), self.inv_freq) / self.interpolation_factor
        freqs = torch.stack((freqs, freqs), dim=-1)
        return freqs.flatten(-2), 1.

def rotate_half(x):
    x1, x2 = x[..., 0::2], x[..., 1::2]
    return torch.stack((-x2, x1), dim=-1).flatten(-2)

def apply_rotary_pos_emb(t, freqs, scale=1):
    rot_dim, seq_len, orig_dtype = freqs.shape[-1], t.shape[-2], t.dtype
    freqs = freqs[:, -seq_len:, :]
    if t.ndim == 4 and freqs.ndim == 3:
        freqs = freqs[:, None]
    t, t_unrotated = t[..., :rot_dim], t[..., rot_dim:]
    t = (t * freqs.cos() * scale) + (rotate_half(t) * freqs.sin() * scale)
    out = torch.cat((t, t_unrotated), dim=-1)
    return out.type(orig_dtype)

def apply_rotary(x, base=10000.0, offset=0):
    rope = RotaryEmbedding(max(x.shape[-1] // 2, 2) // 2 * 2, base)
    freqs, scale = rope(torch.arange(offset + x.shape[-2]))
    return apply_rotary_pos_emb(x, freqs, scale)
