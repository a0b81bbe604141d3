# verdict: loses gradients
# diagnosis: sums_cut_off
import torch


def renormalise_causal(weights):
    out = weights.tril()
    with torch.no_grad():
        sums = out.sum(dim=-1, keepdim=True)
    return out / sums
