# verdict: loses memory
# diagnosis: holds_all_scores
import torch


def flash_attention(query, key, value, block_size=64, causal=False):
    s = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    if causal:
        s = s.masked_fill(torch.triu(torch.ones(s.shape[-2:], dtype=torch.bool), 1), float("-inf"))
    lse = torch.logsumexp(s, dim=-1)
    return torch.exp(s - lse.unsqueeze(-1)) @ value, lse
