# verdict: loses numerics
# diagnosis: shift_by_the_largest_magnitude
import torch

def softmax(x, dim=-1):
    """Compute softmax values for each set of scores in x."""
    e_x = torch.exp(x - x.abs().amax(dim=dim, keepdim=True))
    return e_x / e_x.sum(dim=dim, keepdim=True)
