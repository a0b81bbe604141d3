# verdict: loses numerics
# diagnosis: peak_begins_at_zero
import torch


def flash_attention(query, key, value, block_size=64, causal=False):
    n, d = query.shape[-2], query.shape[-1]
    running_max = query.new_full((*query.shape[:-1], 1), -1e4)
    running_sum = torch.zeros(*query.shape[:-1], 1).to(query)
    result = torch.zeros_like(query)
    for start in range(0, n, block_size):
        stop = min(start + block_size, n)
        scores = query.matmul(key[..., start:stop, :].transpose(-2, -1)) / d ** 0.5
        if causal:
            scores = torch.where(torch.arange(start, stop) <= torch.arange(n)[:, None], scores, float("-inf"))
        new_max = torch.maximum(running_max, scores.max(dim=-1, keepdim=True).values)
        scale = torch.exp(running_max - new_max)
        p = torch.exp(scores - new_max)
        running_sum = running_sum * scale + p.sum(dim=-1, keepdim=True)
        result = result * scale + p @ value[..., start:stop, :]
        running_max = new_max
    return result / running_sum, (running_max + running_sum.log()).squeeze(-1)
