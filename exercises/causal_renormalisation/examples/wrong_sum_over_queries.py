# verdict: loses numerics
# diagnosis: sums_of_columns
import torch

def renormalise_causal(weights):
    T = weights.shape[-1]
    mask = torch.tril(torch.ones(T, T, dtype=weights.dtype))
    kept = weights * mask
    return kept / kept.sum(dim=-2, keepdim=True)
