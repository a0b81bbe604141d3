# verdict: loses numerics
import torch

def simple_attention(x):
    scores = x @ x.T
    weights = torch.softmax(scores, dim=-1).round(decimals=4)
    context = weights @ x
    return context, weights
