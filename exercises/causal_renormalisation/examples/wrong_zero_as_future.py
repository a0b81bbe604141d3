# verdict: loses masking
import torch

def renormalise_causal(weights):
    T = weights.shape[-1]
    mask = torch.tril(torch.ones(T, T, dtype=weights.dtype))
    kept = weights * mask
    return kept.masked_fill(kept == 0, 1e-12) / kept.sum(dim=-1, keepdim=True)
