# verdict: loses numerics
# diagnosis: elu_without_one
import torch
import torch.nn.functional as F


def linear_attention(query, key, value, causal=False):
    q, k = F.elu(query), F.elu(key)
    if causal:
        kv = torch.einsum("bhtd,bhtv->bhtdv", k, value).cumsum(2)
        z = k.cumsum(2)
        return torch.einsum("bhtd,bhtdv->bhtv", q, kv) / torch.einsum("bhtd,bhtd->bht", q, z).unsqueeze(-1)
    return (q @ (k.mT @ value)) / (q @ k.sum(2).unsqueeze(-1))
