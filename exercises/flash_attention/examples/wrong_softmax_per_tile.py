# verdict: loses numerics
import torch


def flash_attention(query, key, value, block_size=64, causal=False):
    T, d = query.shape[-2:]
    out, lse = 0, torch.full(query.shape[:-1], float("-inf"), dtype=query.dtype)
    for j in range(0, T, block_size):
        s = query @ key[..., j : j + block_size, :].mT / d**0.5
        if causal:
            s = s.masked_fill(torch.arange(T)[j : j + block_size] > torch.arange(T)[:, None], -1e9)
        out = out + torch.softmax(s, -1) @ value[..., j : j + block_size, :]
        lse = torch.logaddexp(lse, s.logsumexp(-1))
    return out, lse
