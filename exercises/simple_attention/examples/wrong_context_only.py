# verdict: loses shapes
# diagnosis: context_alone
import torch


def simple_attention(x):
    return torch.softmax(x @ x.T, dim=-1) @ x
