# verdict: loses numerics
# diagnosis: the_rest_shared_evenly
import torch

def renormalise_causal(weights):
    T = weights.shape[-1]
    mask = torch.tril(torch.ones(T, T, dtype=weights.dtype))
    kept = weights * mask
    return kept + mask * (1 - kept.sum(dim=-1, keepdim=True)) / mask.sum(-1, keepdim=True)
