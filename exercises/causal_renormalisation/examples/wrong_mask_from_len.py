# verdict: loses shapes
# diagnosis: mask_as_long_as_the_first_axis
import torch


def renormalise_causal(weights):
    n = weights.shape[0]
    mask = torch.tril(torch.ones(n, n))
    out = weights * mask
    return out / out.sum(dim=-1, keepdim=True)
