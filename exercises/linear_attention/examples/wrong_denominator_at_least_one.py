# verdict: loses numerics
import torch


def linear_attention(query, key, value, causal=False):
    q = torch.where(query > 0, query + 1, query.clamp(max=0).exp())
    k = torch.where(key > 0, key + 1, key.clamp(max=0).exp())
    products = k.unsqueeze(-1) * value.unsqueeze(-2)
    if causal:
        memory, mass = products.cumsum(dim=2), k.cumsum(dim=2)
    else:
        memory, mass = products.sum(dim=2, keepdim=True), k.sum(dim=2, keepdim=True)
    answer = (q.unsqueeze(-1) * memory).sum(dim=-2)
    total = (q * mass).sum(dim=-1, keepdim=True)
    return answer / total.clamp(min=1)
