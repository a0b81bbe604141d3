# verdict: loses numerics
# diagnosis: returned_on_their_side
import torch

def simple_attention(x):
    scores = x @ x.T
    weights = torch.softmax(scores, dim=-1)
    context = weights @ x
    return context, weights.T
