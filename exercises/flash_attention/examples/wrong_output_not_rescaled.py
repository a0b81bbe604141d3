# verdict: loses numerics
# diagnosis: mix_not_rescaled
import torch


def flash_attention(query, key, value, block_size=64, causal=False):
    B, H, T, D = query.shape
    O = torch.zeros(B, H, T, D, dtype=query.dtype)
    l = torch.zeros(B, H, T, 1, dtype=query.dtype)
    m = torch.full((B, H, T, 1), float("-inf"), dtype=query.dtype)
    for j in range(0, T, block_size):
        S = query @ key[:, :, j:j + block_size].transpose(-2, -1) / D ** 0.5
        if causal:
            i_idx = torch.arange(T).view(-1, 1)
            j_idx = torch.arange(j, min(j + block_size, T)).view(1, -1)
            S = S.masked_fill(j_idx > i_idx, float("-inf"))
        m_new = torch.maximum(m, S.max(dim=-1, keepdim=True)[0])
        P = torch.exp(S - m_new)
        l = torch.exp(m - m_new) * l + P.sum(dim=-1, keepdim=True)
        O = O + P @ value[:, :, j:j + block_size]
        m = m_new
    return O / l, (m + torch.log(l)).squeeze(-1)
