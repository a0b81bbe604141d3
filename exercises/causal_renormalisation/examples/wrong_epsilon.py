# verdict: loses numerics
# diagnosis: epsilon_in_the_denominator
import torch


def renormalise_causal(weights):
    w = torch.tril(weights)
    return w / (w.sum(dim=-1, keepdim=True) + 1e-9)
