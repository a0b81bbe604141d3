# verdict: loses masking
# diagnosis: divided_by_the_mask
import torch

def renormalise_causal(weights):
    T = weights.shape[-1]
    mask = torch.tril(torch.ones(T, T, dtype=weights.dtype))
    kept = weights / mask * mask
    return kept / kept.sum(dim=-1, keepdim=True)
