# verdict: loses numerics
# diagnosis: sigmoids_over_their_sum
import torch
def softmax(x, dim=-1):
    s = torch.sigmoid(x)
    return s / s.sum(dim=dim, keepdim=True)
