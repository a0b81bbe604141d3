# verdict: loses numerics
# diagnosis: length_instead_of_the_sum
import torch
import torch.nn.functional as F


def renormalise_causal(weights):
    return F.normalize(torch.tril(weights), dim=-1)
