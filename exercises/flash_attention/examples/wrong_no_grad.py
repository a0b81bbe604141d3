# verdict: loses gradients
# diagnosis: everything_detached
import torch


@torch.no_grad()
def flash_attention(query, key, value, block_size=64, causal=False):
    T, d = query.shape[-2:]
    out, lse = torch.empty_like(query), torch.empty_like(query[..., 0])
    for i in range(0, T, block_size):
        s = query[..., i : i + block_size, :] @ key.mT / d**0.5
        if causal:
            s.masked_fill_(torch.arange(T) > torch.arange(T)[i : i + block_size, None], -torch.inf)
        out[..., i : i + block_size, :] = s.softmax(-1) @ value
        lse[..., i : i + block_size] = s.logsumexp(-1)
    return out, lse
