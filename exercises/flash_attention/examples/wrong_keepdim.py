# verdict: loses shapes
import torch


def flash_attention(query, key, value, block_size=64, causal=False):
    T, d = query.shape[-2:]
    outs, lses = [], []
    for q, i in zip(query.split(block_size, 2), torch.arange(T).split(block_size)):
        s = q @ key.mT / d**0.5
        if causal:
            s = s.masked_fill(torch.arange(T) > i[:, None], -torch.inf)
        outs.append(s.softmax(-1) @ value)
        lses.append(s.logsumexp(-1, keepdim=True))
    return torch.cat(outs, 2), torch.cat(lses, 2)
