# verdict: loses numerics
import torch

def simple_attention(x):
    scores = x @ x.T
    weights = torch.softmax(scores, dim=-1)
    context = (weights[-1] @ x).expand_as(x)
    return context, weights
