# verdict: loses numerics
import torch


def attention_dropout(weights, p, training=True):
    if not training or p == 0:
        return weights
    if p == 1:
        return weights * 0.0
    kept = torch.randint(0, 10, weights.shape) >= 10 * p
    return weights * kept / (1 - p)
