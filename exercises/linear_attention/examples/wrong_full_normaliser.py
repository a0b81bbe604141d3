# verdict: loses masking
# diagnosis: denominator_sees_all
import torch
import torch.nn.functional as F


def linear_attention(query, key, value, causal=False):
    q, k = F.elu(query) + 1, F.elu(key) + 1
    z = 1.0 / torch.einsum("bhtd,bhd->bht", q, k.sum(dim=2))
    kv = torch.einsum("bhtd,bhtv->bhtdv", k, value)
    kv = kv.cumsum(dim=2) if causal else kv.sum(dim=2, keepdim=True)
    return (q.unsqueeze(-2) @ kv).squeeze(-2) * z.unsqueeze(-1)
