# verdict: loses numerics
import torch
from torch import nn

class RotaryPositionalEmbeddings(nn.Module):
    def __init__(self, d: int, base: int = 10_000):
        super().__init__()
        self.base = base
        self.d = d
        self.cos_cached = None
        self.sin_cached = None

    def _build_cache(self, x: torch.Tensor, offset: int):
        seq_len = x.shape[0]
        theta = 1. / (self.base ** (torch.arange(0, self.d, 2).to(x.dtype) / self.d)).to(x.device)
        seq_idx = torch.arange(offset, offset + seq_len, device=x.device).to(torch.float16).to(x.dtype).to(x.device)
        idx_theta = torch.einsum('n,d->nd', seq_idx, theta)
        idx_theta2 = torch.stack([idx_theta, idx_theta], dim=2).reshape(seq_len, self.d)
        self.cos_cached = idx_theta2.cos()[:, None, None, :]
        self.sin_cached = idx_theta2.sin()[:, None, None, :]

    def _neg_half(self, x: torch.Tensor):
        out = torch.empty_like(x)
        out[..., 0::2] = -x[..., 1::2]
        out[..., 1::2] = x[..., 0::2]
        return out

    def forward(self, x: torch.Tensor, offset: int):
        # x has shape [seq_len, batch_size, n_heads, d]
        self._build_cache(x, offset)
        neg_half_x = self._neg_half(x)
        return (x * self.cos_cached) + (neg_half_x * self.sin_cached)

def apply_rotary(x, base=10000.0, offset=0):
    dtype = x.dtype
    if dtype in (torch.float16, torch.bfloat16):
        x = x.to(torch.float32)
    x = x.permute(2, 0, 1, 3)
    rotary_pe = RotaryPositionalEmbeddings(x.shape[-1], base)
    return rotary_pe(x, offset).permute(1, 2, 0, 3).to(dtype)
