# verdict: loses numerics
# diagnosis: squared_distances
import torch

def simple_attention(x):
    scores = -torch.cdist(x, x) ** 2
    weights = torch.softmax(scores, dim=-1)
    context = weights @ x
    return context, weights
