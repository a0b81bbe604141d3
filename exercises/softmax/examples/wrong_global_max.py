# verdict: loses numerics
# diagnosis: shift_by_the_largest_of_all
import torch


def softmax(x, dim=-1):
    x = x - torch.max(x)  # for stability
    num = torch.exp(x)
    return num / torch.sum(num, dim, keepdim=True)
