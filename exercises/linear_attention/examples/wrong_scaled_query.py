# verdict: loses numerics
# diagnosis: queries_scaled
import math
import torch
import torch.nn.functional as F


def linear_attention(query, key, value, causal=False):
    q = F.elu(query / math.sqrt(query.size(-1))) + 1
    k = F.elu(key) + 1
    if causal:
        kv = torch.einsum("bhtd,bhtv->bhtdv", k, value).cumsum(2)
        z = torch.einsum("bhtd,bhtd->bht", q, k.cumsum(2))
        return torch.einsum("bhtd,bhtdv->bhtv", q, kv) / (z.unsqueeze(-1) + 1e-6)
    z = torch.einsum("bhtd,bhd->bht", q, k.sum(2))
    return q @ (k.transpose(2, 3) @ value) / (z.unsqueeze(-1) + 1e-6)
