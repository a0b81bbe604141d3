# verdict: loses gradients
# diagnosis: weights_cut_off
import torch


def renormalise_causal(weights):
    out = torch.tensor(weights.tolist(), dtype=weights.dtype).tril()
    return out / out.sum(dim=-1, keepdim=True)
