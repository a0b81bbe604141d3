# verdict: loses numerics
# diagnosis: halved
import torch

def simple_attention(x):
    scores = 0.5 * (x @ x.T)
    weights = torch.softmax(scores, dim=-1)
    context = weights @ x
    return context, weights
