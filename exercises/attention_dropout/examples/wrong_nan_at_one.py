# verdict: loses numerics
# diagnosis: not_a_number_at_one
import torch


def attention_dropout(weights, p, training=True):
    if training:
        keep = torch.rand(weights.shape) >= p
        weights = (weights * keep) / torch.tensor(1 - p)
    return weights
