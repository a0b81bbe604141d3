# verdict: loses numerics
# diagnosis: returns_the_scores
import torch

def simple_attention(x):
    scores = x @ x.T
    weights = torch.softmax(scores, dim=-1)
    context = weights @ x
    return context, scores
