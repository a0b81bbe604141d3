# verdict: loses numerics
# diagnosis: mean_taken_off
import torch

def simple_attention(x):
    x = x - x.mean(0)
    scores = x @ x.T
    weights = torch.softmax(scores, dim=-1)
    context = weights @ x
    return context, weights
