# verdict: loses numerics
# diagnosis: not_a_number_made_zero
import torch
def softmax(x, dim=-1):
    e = torch.exp(x)
    return torch.nan_to_num(e / e.sum(dim, keepdim=True))
