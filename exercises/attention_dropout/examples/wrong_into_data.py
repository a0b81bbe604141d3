# verdict: loses gradients
# Writes where autograd does not look, so what was dropped still learns.
# diagnosis: dropped_ones_learn
import torch


def attention_dropout(weights, p, training=True):
    if not training:
        return weights
    out = weights * 1.0
    out.data[torch.rand_like(out) < p] = 0
    if p < 1:
        out.data /= 1 - p
    return out
