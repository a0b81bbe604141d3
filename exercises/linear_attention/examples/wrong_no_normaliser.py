# verdict: loses numerics
# diagnosis: no_denominator
import torch
import torch.nn.functional as F


def linear_attention(query, key, value, causal=False):
    q, k = F.elu(query) + 1, F.elu(key) + 1
    if causal:
        state = torch.cumsum(torch.einsum("bhtd,bhtv->bhtdv", k, value), dim=2)
        return torch.einsum("bhtd,bhtdv->bhtv", q, state)
    return q @ (k.transpose(-2, -1) @ value)
