# verdict: loses numerics
# diagnosis: scaled_by_the_length
import torch

def simple_attention(x):
    scores = x @ x.T / x.shape[0] ** 0.5
    weights = torch.softmax(scores, dim=-1)
    context = weights @ x
    return context, weights
