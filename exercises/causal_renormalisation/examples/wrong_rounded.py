# verdict: loses numerics
# diagnosis: rounded
import torch

def renormalise_causal(weights):
    T = weights.shape[-1]
    mask = torch.tril(torch.ones(T, T, dtype=weights.dtype))
    kept = weights * mask
    return (kept / kept.sum(dim=-1, keepdim=True)).round(decimals=4)
