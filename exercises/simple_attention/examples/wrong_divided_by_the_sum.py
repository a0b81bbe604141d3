# verdict: loses numerics
# diagnosis: scores_over_their_sum
import torch


def simple_attention(x):
    scores = x @ x.T
    weights = scores / scores.sum(dim=1, keepdim=True)
    return weights @ x, weights
