# verdict: loses masking
# diagnosis: hides_the_past
import torch


def renormalise_causal(weights):
    mask = torch.triu(torch.ones(weights.shape[-1], weights.shape[-1]))
    kept = weights * mask
    return kept / kept.sum(dim=-1, keepdim=True)
