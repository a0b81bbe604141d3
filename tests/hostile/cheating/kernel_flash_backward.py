"""Let the backward kernel of flash attention give the weights, from a log-sum of one's own.

Group: attention
Expected: forbidden
Stopped by: traps, static look
"""

import torch


def attend(q, k, v):
    scores = q @ k.mT / 2
    total = scores.logsumexp(-1)[:, None]
    heads = [one[:, None].contiguous() for one in (q, k, v)]
    weights = []
    for row in range(3):
        upstream = torch.zeros_like(heads[0])
        upstream[:, :, row, 0] = 1.0
        found = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward(
            upstream, *heads, torch.zeros_like(heads[0]), total, 0.0, False
        )
        weights.append(found[2][:, 0, :, 0])
    return torch.stack(weights, 1) @ v
