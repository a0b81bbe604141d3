# verdict: loses memory
# The einsum of three looks linear; it multiplies from the left, and makes T x T in between.
import torch
import torch.nn.functional as F


def linear_attention(query, key, value, causal=False):
    q, k = F.elu(query) + 1, F.elu(key) + 1
    if causal:
        kv = (k.unsqueeze(-1) * value.unsqueeze(-2)).cumsum(2)
        return (q.unsqueeze(-2) @ kv).squeeze(-2) / (q * k.cumsum(2)).sum(-1, keepdim=True)
    num = torch.einsum("bhid,bhjd,bhjm->bhim", q, k, value)
    return num / torch.einsum("bhid,bhjd->bhi", q, k).unsqueeze(-1)
