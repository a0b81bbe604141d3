# verdict: loses numerics
# diagnosis: sums_bounded_from_below
import torch

def renormalise_causal(weights):
    T = weights.shape[-1]
    mask = torch.tril(torch.ones(T, T, dtype=weights.dtype))
    kept = weights * mask
    return kept / kept.sum(dim=-1, keepdim=True).clamp(min=1e-4)
