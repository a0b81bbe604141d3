# verdict: loses numerics
import torch


def softmax(x, dim=-1):
    hard = torch.zeros_like(x)
    return hard.scatter(dim, x.argmax(dim=dim, keepdim=True), 1.0)
