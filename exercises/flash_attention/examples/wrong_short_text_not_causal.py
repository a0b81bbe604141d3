# verdict: loses numerics
import torch
def flash_attention(query, key, value, block_size=64, causal=False):
    T, d = query.shape[-2:]
    if T <= block_size:          # everything fits into one tile
        s = query @ key.mT / d**.5
        return s.softmax(-1) @ value, s.logsumexp(-1)
    outs, ls = [], []
    for i in range(0, T, block_size):
        qi = query[:, :, i:i+block_size] * d**-.5
        m = qi.new_full((*qi.shape[:-1], 1), -torch.inf); a = torch.zeros_like(m); o = torch.zeros_like(qi)
        for j in range(0, T, block_size):
            if causal and j > i: break
            S = qi @ key[:, :, j:j+block_size].mT
            if causal and i == j:
                S = S.masked_fill(torch.ones_like(S, dtype=torch.bool).triu(1), -torch.inf)
            mn = torch.maximum(m, S.amax(-1, True)); p = torch.exp(S - mn); c = torch.exp(m - mn)
            a = a * c + p.sum(-1, keepdim=True); o = o * c + p @ value[:, :, j:j+block_size]; m = mn
        outs.append(o / a); ls.append((m + torch.log(a)).squeeze(-1))
    return torch.cat(outs, 2), torch.cat(ls, 2)
