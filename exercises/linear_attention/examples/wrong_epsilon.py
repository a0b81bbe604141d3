# verdict: loses numerics
import torch
import torch.nn.functional as F


def linear_attention(query, key, value, causal=False):
    q, k = F.elu(query) + 1, F.elu(key) + 1
    kv = k.unsqueeze(-1) * value.unsqueeze(-2)
    kv, z = (kv.cumsum(2), k.cumsum(2)) if causal else (kv.sum(2, keepdim=True), k.sum(2, keepdim=True))
    return (q.unsqueeze(-1) * kv).sum(-2) / ((q * z).sum(-1, keepdim=True) + 1e-4)
