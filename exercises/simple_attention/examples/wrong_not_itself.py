# verdict: loses numerics
# diagnosis: hides_itself
import torch


def simple_attention(x):
    scores = x @ x.T
    eye = torch.eye(len(x), dtype=torch.bool)
    weights = torch.softmax(scores.masked_fill(eye, float("-inf")), dim=-1)
    return weights @ x, weights
