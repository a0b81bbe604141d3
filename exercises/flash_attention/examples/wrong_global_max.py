# verdict: loses numerics
import math
import torch

def flash_attention(query, key, value, block_size=64, causal=False):
    """Keys one tile at a time, all queries at once."""
    B, H, T, D = query.shape
    m = torch.full((B, H, T), -math.inf, dtype=query.dtype)
    a = torch.zeros(B, H, T, dtype=query.dtype)
    b = torch.zeros(B, H, T, D, dtype=query.dtype)
    position = torch.arange(T)
    n_tiles = math.ceil(T / block_size)
    for t in range(n_tiles):
        lo, hi = t * block_size, min((t + 1) * block_size, T)
        if hi - lo == T:
            # one tile would be the whole table: go through the keys in smaller pieces
            pieces = [(x, min(x + 32, T)) for x in range(0, T, 32)]
        else:
            pieces = [(lo, hi)]
        for lo, hi in pieces:
            s = torch.einsum("bhtd,bhsd->bhts", query, key[:, :, lo:hi]) / math.sqrt(D)
            if causal:
                s = s.masked_fill(position[lo:hi] > position[:, None], -math.inf)
            peak = torch.maximum(m, s.max())
            r = torch.exp(m - peak)
            e = torch.exp(s - peak[..., None])
            a = r * a + e.sum(-1)
            b = r[..., None] * b + torch.einsum("bhts,bhsd->bhtd", e, value[:, :, lo:hi])
            m = peak
    return b / a[..., None], m + a.log()
