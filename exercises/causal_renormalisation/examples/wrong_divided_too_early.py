# verdict: loses numerics
# diagnosis: renormalised_too_early
import torch


def renormalise_causal(weights):
    weights = weights / weights.sum(-1, keepdim=True)
    return torch.tril(weights)
