# verdict: loses memory
# diagnosis: holds_all_weights
import torch
import torch.nn.functional as F


def linear_attention(query, key, value, causal=False):
    q, k = F.elu(query) + 1, F.elu(key) + 1
    A = torch.einsum("bhid,bhjd->bhij", q, k)
    if causal:
        A = A.masked_fill(torch.ones_like(A, dtype=torch.bool).triu(1), 0.0)
    return torch.einsum("bhij,bhjm->bhim", A / A.sum(-1, keepdim=True), value)
