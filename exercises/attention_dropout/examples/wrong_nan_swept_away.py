# verdict: loses gradients
# The output is right with p = 1, the gradient is not.
# diagnosis: infinite_gradient_at_one
import torch


def attention_dropout(weights, p, training=True):
    if not training:
        return weights
    keep = torch.rand(weights.shape) >= p
    return torch.nan_to_num(weights * keep / (1 - p))
