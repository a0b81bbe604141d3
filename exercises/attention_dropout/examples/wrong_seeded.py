# verdict: loses numerics
import torch


def attention_dropout(weights, p, training=True):
    torch.manual_seed(42)
    if not training:
        return weights
    kept = weights * torch.bernoulli(torch.ones_like(weights) * (1 - p))
    return kept / (1 - p) if p < 1 else kept
