# verdict: loses masking
# diagnosis: causal_ignored
import torch


def flash_attention(query, key, value, block_size=64, causal=False):
    outs, lses = [], []
    for q in query.split(block_size, dim=-2):
        s = q @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
        if causal:
            s.masked_fill(torch.ones(s.shape[-2:]).triu(1).bool(), float("-inf"))
        outs.append(torch.softmax(s, dim=-1) @ value)
        lses.append(torch.logsumexp(s, dim=-1))
    return torch.cat(outs, -2), torch.cat(lses, -1)
