# verdict: loses numerics
# diagnosis: not_renormalised
import torch


def renormalise_causal(weights):
    T = weights.shape[-1]
    return weights * torch.tril(torch.ones(T, T))
