# verdict: loses numerics
# diagnosis: hides_the_future
import torch

def simple_attention(x):
    scores = x @ x.T
    scores = scores.masked_fill(torch.triu(torch.ones(len(x), len(x)), 1).bool(), float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    context = weights @ x
    return context, weights
