# verdict: loses numerics
# diagnosis: the_rest_to_itself
import torch

def renormalise_causal(weights):
    T = weights.shape[-1]
    mask = torch.tril(torch.ones(T, T, dtype=weights.dtype))
    kept = weights * mask
    return kept + torch.diag_embed(1 - kept.sum(dim=-1))
