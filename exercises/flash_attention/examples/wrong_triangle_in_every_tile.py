# verdict: loses masking
# diagnosis: triangle_in_the_tiles_before
import torch


def flash_attention(query, key, value, block_size=64, causal=False):
    B, H, T, D = query.shape
    out, lse = torch.zeros_like(query), query.new_zeros(B, H, T)
    for i in range(0, T, block_size):
        q = query[:, :, i : i + block_size]
        m = q.new_full(q.shape[:3], -1e30)
        l = q.new_zeros(q.shape[:3])
        acc = torch.zeros_like(q)
        for j in range(0, T, block_size):
            if causal and j > i:
                break
            s = q @ key[:, :, j : j + block_size].transpose(-2, -1) * D ** -0.5
            if causal:
                s = s.masked_fill(torch.ones(s.shape[-2:]).triu(1).bool(), float("-inf"))
            new_m = torch.max(m, s.max(-1).values)
            p = torch.exp(s - new_m.unsqueeze(-1))
            l = l * torch.exp(m - new_m) + p.sum(-1)
            acc = acc * torch.exp(m - new_m).unsqueeze(-1) + p @ value[:, :, j : j + block_size]
            m = new_m
        out[:, :, i : i + block_size] = acc / l.unsqueeze(-1)
        lse[:, :, i : i + block_size] = m + torch.log(l)
    return out, lse
