# verdict: loses shapes
import torch


def simple_attention(x):
    batch, time, width = x.shape
    w = torch.softmax(torch.bmm(x, x.transpose(1, 2)), dim=-1)
    return torch.bmm(w, x), w
