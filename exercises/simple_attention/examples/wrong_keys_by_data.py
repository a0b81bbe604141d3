# verdict: loses gradients
# diagnosis: keys_cut_off
import torch

def simple_attention(x):
    scores = x @ x.data.T
    weights = torch.softmax(scores, dim=-1)
    context = weights @ x
    return context, weights
