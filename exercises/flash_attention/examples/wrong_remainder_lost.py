# verdict: loses numerics
# diagnosis: last_keys_dropped
import math
import torch


def flash_attention(query, key, value, block_size=64, causal=False):
    T, d = query.shape[-2:]
    num_blocks = max(1, T // block_size)
    m = torch.full(query.shape[:-1], -math.inf, dtype=query.dtype)
    l = torch.zeros_like(m)
    o = torch.zeros_like(query)
    for b in range(num_blocks):
        ks = slice(b * block_size, (b + 1) * block_size)
        s = query @ key[..., ks, :].mT / math.sqrt(d)
        if causal:
            j = torch.arange(T)[ks]
            s = s.masked_fill(j[None, :] > torch.arange(T)[:, None], -math.inf)
        new = torch.maximum(m, s.amax(-1))
        p = torch.exp(s - new.unsqueeze(-1))
        f = torch.exp(m - new)
        l = l * f + p.sum(-1)
        o = o * f.unsqueeze(-1) + p @ value[..., ks, :]
        m = new
    return o / l.unsqueeze(-1), m + l.log()
