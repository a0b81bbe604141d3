# verdict: loses numerics
# diagnosis: infinity_made_finite
import torch

def softmax(x, dim=-1):
    """Compute softmax values for each set of scores in x."""
    x = x.masked_fill(torch.isinf(x), -1e4)
    e_x = torch.exp(x - torch.max(x, dim=dim, keepdim=True)[0])
    return e_x / e_x.sum(dim=dim, keepdim=True)
