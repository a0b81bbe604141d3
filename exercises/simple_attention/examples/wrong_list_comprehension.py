# verdict: loses gradients
# diagnosis: weights_cut_off
# Every score is taken out of its tensor with .item().
import torch


def simple_attention(x):
    scores = torch.tensor([[torch.dot(a, b).item() for b in x] for a in x])
    weights = torch.softmax(scores, dim=-1)
    return weights @ x, weights
