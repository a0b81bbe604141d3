# verdict: loses numerics
import torch


def simple_attention(x):
    weights = torch.softmax(x @ x.T, dim=-1)
    context = weights @ x
    if context.shape == weights.shape:
        return context.T, weights
    return context, weights
