# verdict: loses memory
# diagnosis: holds_all_scores
import torch


def flash_attention(query, key, value, block_size=64, causal=False):
    T, d = query.shape[-2:]
    out, lse = torch.zeros_like(query), torch.zeros_like(query[..., 0])
    for i in range(0, T, block_size):
        stop = min(i + block_size, T)
        # all scores are formed again for every block, and only some of its rows are kept
        s = torch.einsum("bhid,bhjd->bhij", query, key)[:, :, i:stop] / d**0.5
        if causal:
            s = s.masked_fill(torch.arange(T) > torch.arange(i, stop)[:, None], float("-inf"))
        out[:, :, i:stop] = s.softmax(-1) @ value
        lse[:, :, i:stop] = s.logsumexp(-1)
    return out, lse
