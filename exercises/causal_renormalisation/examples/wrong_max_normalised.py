# verdict: loses numerics
# diagnosis: largest_instead_of_the_sum
import torch

def renormalise_causal(weights):
    T = weights.shape[-1]
    mask = torch.tril(torch.ones(T, T, dtype=weights.dtype))
    kept = weights * mask
    return kept / kept.amax(dim=-1, keepdim=True)
