# verdict: loses shapes
import torch


def softmax(x, dim=-1):
    rows, columns = x.shape
    out = torch.zeros(rows, columns)
    for i in range(rows):
        e = torch.exp(x[i] - x[i].max())
        out[i] = e / e.sum()
    return out
