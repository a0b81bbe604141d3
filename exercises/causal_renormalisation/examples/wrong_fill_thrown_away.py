# verdict: loses masking
# diagnosis: no_mask
import torch


def renormalise_causal(weights):
    T = weights.shape[-1]
    weights.masked_fill(torch.ones(T, T).triu(1).bool(), 0)
    return weights / weights.sum(dim=-1, keepdim=True)
