# verdict: loses masking
# diagnosis: sees_one_ahead
import torch


def renormalise_causal(weights):
    kept = torch.tril(weights, diagonal=1)
    return kept / kept.sum(dim=-1, keepdim=True)
