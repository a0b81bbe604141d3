# verdict: loses numerics
# Rounded "to be readable".
import torch


def simple_attention(x):
    w = torch.softmax(x @ x.T, -1)
    w = w + (torch.round(w, decimals=4) - w).detach()
    return w @ x, w
