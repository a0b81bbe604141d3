# verdict: loses gradients
# diagnosis: denominator_cut_off
import torch
import torch.nn.functional as F


def linear_attention(query, key, value, causal=False):
    q, k = F.elu(query) + 1, F.elu(key) + 1
    kv = k.unsqueeze(-1) * value.unsqueeze(-2)
    kv, z = (kv.cumsum(2), k.cumsum(2)) if causal else (kv.sum(2, True), k.sum(2, True))
    with torch.no_grad():
        norm = (q * z).sum(-1, keepdim=True)
    return (q.unsqueeze(-2) @ kv).squeeze(-2) / norm
