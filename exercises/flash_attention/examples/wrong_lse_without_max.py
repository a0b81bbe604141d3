# verdict: loses numerics
# diagnosis: logarithm_without_the_peak
import torch


def flash_attention(query, key, value, block_size=64, causal=False):
    T = query.shape[2]
    outs, lses = [], []
    for i in range(0, T, block_size):
        s = torch.einsum("bhid,bhjd->bhij", query[:, :, i:i + block_size], key) / query.shape[3] ** 0.5
        if causal:
            keep = torch.arange(i, i + s.shape[2])[:, None] >= torch.arange(T)[None, :]
            s = s.masked_fill(~keep, float("-inf"))
        m = s.max(dim=-1, keepdim=True).values
        e = torch.exp(s - m)
        z = e.sum(dim=-1)
        outs.append(torch.einsum("bhij,bhjd->bhid", e, value) / z.unsqueeze(-1))
        lses.append(torch.log(z))
    return torch.cat(outs, dim=2), torch.cat(lses, dim=2)
