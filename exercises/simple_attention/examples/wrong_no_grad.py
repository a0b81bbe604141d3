# verdict: loses gradients
# diagnosis: everything_cut_off
import torch


@torch.no_grad()
def simple_attention(x):
    weights = torch.softmax(x @ x.T, dim=-1)
    return weights @ x, weights
