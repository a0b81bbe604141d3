# verdict: loses numerics
# diagnosis: adds_the_token_itself
import torch


def simple_attention(x):
    weights = torch.softmax(x @ x.T, -1)
    out = weights @ x
    return x + out, weights
