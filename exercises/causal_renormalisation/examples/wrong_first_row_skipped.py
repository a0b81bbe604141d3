# verdict: loses numerics
# diagnosis: first_row_left_out
import torch

def renormalise_causal(weights):
    T = weights.shape[-1]
    mask = torch.tril(torch.ones(T, T, dtype=weights.dtype))
    kept = weights * mask
    out = kept / kept.sum(dim=-1, keepdim=True)
    out[..., 0, :] = kept[..., 0, :]
    return out
