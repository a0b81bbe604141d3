# verdict: loses masking
# diagnosis: softmax_over_zeros
import torch


def renormalise_causal(weights):
    return torch.softmax(torch.tril(weights), dim=-1)
