# verdict: loses numerics
# diagnosis: softmax_once_more
import torch


def renormalise_causal(weights):
    T = weights.shape[-1]
    mask = torch.triu(torch.ones(T, T), diagonal=1)
    masked = weights.masked_fill(mask.bool(), -torch.inf)
    return torch.softmax(masked, dim=-1)
