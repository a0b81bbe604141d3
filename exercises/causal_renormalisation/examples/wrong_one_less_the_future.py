# verdict: loses gradients
# diagnosis: one_minus_the_future
import torch


def renormalise_causal(weights):
    return weights.tril() / (1 - weights.triu(1).sum(-1, keepdim=True))
