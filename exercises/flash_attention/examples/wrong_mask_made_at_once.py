# verdict: loses memory
# diagnosis: holds_all_scores
import torch


def flash_attention(query, key, value, block_size=64, causal=False):
    T, d = query.shape[-2:]
    mask = torch.ones(T, T, dtype=torch.bool).tril() if causal else torch.ones(1, 1).expand(T, T).bool()
    out, lse = [], []
    for i in range(0, T, block_size):
        m = torch.full((*query.shape[:2], min(block_size, T - i)), -torch.inf, dtype=query.dtype)
        l = torch.zeros_like(m)
        acc = torch.zeros_like(query[:, :, i : i + block_size])
        for j in range(0, T, block_size):
            s = query[:, :, i : i + block_size] @ key[:, :, j : j + block_size].mT / d**0.5
            s = s.masked_fill(~mask[i : i + block_size, j : j + block_size], -1e30)
            new = torch.maximum(m, s.amax(-1))
            p, a = torch.exp(s - new[..., None]), torch.exp(m - new)
            l, acc, m = a * l + p.sum(-1), a[..., None] * acc + p @ value[:, :, j : j + block_size], new
        out.append(acc / l[..., None])
        lse.append(m + l.log())
    return torch.cat(out, 2), torch.cat(lse, 2)
