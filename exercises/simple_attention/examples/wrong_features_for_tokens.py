# verdict: loses shapes
import torch


def simple_attention(x):
    scores = x.T @ x
    weights = torch.softmax(scores, dim=-1)
    return x @ weights, weights
