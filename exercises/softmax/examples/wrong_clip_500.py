# verdict: loses numerics
import torch
def softmax(x, dim=-1):
    x = torch.clip(x, -500, 500)
    e = torch.exp(x)
    return e / e.sum(dim=dim, keepdim=True)
