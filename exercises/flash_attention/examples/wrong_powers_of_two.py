# verdict: loses numerics
# diagnosis: log_sum_exp_to_base_two
import math

import torch

LOG2_E = 1 / math.log(2)


def flash_attention(query, key, value, block_size=64, causal=False):
    time, d = query.shape[-2:]
    outputs, sums = [], []
    for start in range(0, time, block_size):
        q = query[..., start : start + block_size, :] * (LOG2_E / math.sqrt(d))
        rows = torch.arange(start, start + q.shape[-2])
        m = torch.full(q.shape[:-1], float("-inf"), dtype=q.dtype)
        total = torch.zeros_like(m)
        acc = torch.zeros_like(q)
        for first in range(0, time, block_size):
            if causal and first > rows[-1]:
                break
            k, v = key[..., first : first + block_size, :], value[..., first : first + block_size, :]
            s = q @ k.transpose(-2, -1)
            if causal:
                columns = torch.arange(first, first + k.shape[-2])
                s = s.masked_fill(columns > rows[:, None], float("-inf"))
            new = torch.maximum(m, s.amax(-1))
            p = torch.exp2(s - new[..., None])
            alpha = torch.exp2(m - new)
            total = total * alpha + p.sum(-1)
            acc = acc * alpha[..., None] + p @ v
            m = new
        outputs.append(acc / total[..., None])
        sums.append(m + torch.log2(total))
    return torch.cat(outputs, -2), torch.cat(sums, -1)
