# verdict: loses numerics
# diagnosis: one_sum_for_everything
import torch

def renormalise_causal(weights):
    T = weights.shape[-1]
    mask = torch.tril(torch.ones(T, T, dtype=weights.dtype))
    kept = weights * mask
    return kept / kept.sum()
