# verdict: loses shapes
import torch

def renormalise_causal(weights):
    T = weights.shape[-1]
    mask = torch.tril(torch.ones(32, 32, dtype=weights.dtype))
    kept = weights * mask[:T, :T]
    return kept / kept.sum(dim=-1, keepdim=True)
