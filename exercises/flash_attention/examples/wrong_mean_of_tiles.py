# verdict: loses numerics
import torch

def attend_block(q, k, v, mask):
    s = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
    if mask is not None:
        s = s.masked_fill(mask, float("-inf"))
    lse = torch.logsumexp(s, dim=-1)
    safe = torch.where(torch.isinf(lse), torch.zeros_like(lse), lse)
    p = torch.exp(s - safe[..., None])
    return p @ v, lse

def merge(o1, lse1, o2, lse2):
    lse = torch.logaddexp(lse1, lse2)
    return (o1 + o2) / 2, lse

def flash_attention(query, key, value, block_size=64, causal=False):
    T = query.shape[-2]
    outs, lses = [], []
    for i in range(0, T, block_size):
        q = query[..., i : i + block_size, :]
        out = lse = None
        for j in range(0, T, block_size):
            if causal and j > i:
                continue
            k, v = key[..., j : j + block_size, :], value[..., j : j + block_size, :]
            mask = None
            if causal and i == j:
                n = q.shape[-2]
                mask = torch.ones(n, n, dtype=torch.bool).triu(1)
            o, l = attend_block(q, k, v, mask)
            out, lse = (o, l) if out is None else merge(out, lse, o, l)
        outs.append(out)
        lses.append(lse)
    return torch.cat(outs, dim=-2), torch.cat(lses, dim=-1)
