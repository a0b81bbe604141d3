# verdict: loses numerics
import torch

def precompute_freqs_cis(dim, start, end, theta=10000.0):
    freqs = 1.0 / (theta ** (torch.arange(0, dim, 2)[: (dim // 2)].double() / dim))
    t = torch.arange(start, end, device=freqs.device)
    freqs = torch.outer(t, freqs)
    return torch.polar(torch.ones_like(freqs), freqs)

def reshape_for_broadcast(freqs_cis, x):
    ndim = x.ndim
    shape = [d if i == ndim - 2 or i == ndim - 1 else 1 for i, d in enumerate(x.shape)]
    return freqs_cis.view(*shape)

def apply_rotary(x, base=10000.0, offset=0):
    x = x.roll(offset, dims=2)
    seqlen, head_dim = x.shape[2], x.shape[3]
    freqs_cis = precompute_freqs_cis(head_dim, 0, seqlen, base).to(x.device)
    xq_ = torch.view_as_complex(x.double().reshape(*x.shape[:-1], -1, 2))
    freqs_cis = reshape_for_broadcast(freqs_cis, xq_)
    xq_out = torch.view_as_real(xq_ * freqs_cis).flatten(3)
    return xq_out.type_as(x)
