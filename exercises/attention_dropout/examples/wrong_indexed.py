# verdict: loses shapes
# diagnosis: only_those_that_stay
import torch


def attention_dropout(weights, p, training=True):
    if not training:
        return weights
    stay = torch.rand_like(weights) >= p
    return weights[stay] / (1 - p) if p < 1 else weights[stay]
