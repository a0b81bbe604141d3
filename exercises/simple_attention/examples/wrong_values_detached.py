# verdict: loses gradients
# diagnosis: values_cut_off
import torch

def simple_attention(x):
    scores = x @ x.T
    weights = torch.softmax(scores, dim=-1)
    context = weights @ x.detach()
    return context, weights
