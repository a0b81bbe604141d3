# verdict: loses masking
# diagnosis: hides_itself
import torch


def renormalise_causal(weights):
    T = weights.shape[-1]
    future = torch.triu(torch.ones(T, T)).bool()
    kept = weights.masked_fill(future, 0.0)
    return kept / kept.sum(dim=-1, keepdim=True)
