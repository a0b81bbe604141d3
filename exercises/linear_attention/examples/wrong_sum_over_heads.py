# verdict: loses masking
# diagnosis: heads_summed_up
import torch
import torch.nn.functional as F


def linear_attention(query, key, value, causal=False):
    q, k = F.elu(query) + 1, F.elu(key) + 1
    if causal:
        kv = torch.einsum("bhtd,bhtv->bhtdv", k, value).cumsum(2)
        return torch.einsum("bhtd,bhtdv->bhtv", q, kv) / (q * k.cumsum(2)).sum(-1, keepdim=True)
    kv = torch.einsum("bhtd,bhtv->bdv", k, value)
    z = torch.einsum("bhtd,bd->bht", q, k.sum(dim=(1, 2)))
    return torch.einsum("bhtd,bdv->bhtv", q, kv) / z[..., None]
