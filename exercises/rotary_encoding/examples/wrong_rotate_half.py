# verdict: loses numerics
# diagnosis: pairs_feature_with_half_width
import torch


def rotate_half(x):
    x1 = x[..., : x.shape[-1] // 2]
    x2 = x[..., x.shape[-1] // 2 :]
    return torch.cat((-x2, x1), dim=-1)


def apply_rotary(x, base=10000.0, offset=0):
    dim = x.shape[-1]
    inv_freq = 1.0 / (base ** (torch.arange(0, dim, 2) / dim))
    t = torch.arange(offset, offset + x.shape[-2])
    freqs = torch.einsum("i,j->ij", t.to(inv_freq.dtype), inv_freq)
    emb = torch.cat((freqs, freqs), dim=-1)
    return (x * emb.cos()) + (rotate_half(x) * emb.sin())
