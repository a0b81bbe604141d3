# verdict: loses masking
# diagnosis: causal_ignored
import torch
import torch.nn.functional as F


def linear_attention(query, key, value, causal=False):
    q, k = F.elu(query) + 1, F.elu(key) + 1
    kv = torch.einsum("bhnd,bhne->bhde", k, value)
    z = 1 / (torch.einsum("bhnd,bhd->bhn", q, k.sum(dim=-2)) + 1e-6)
    return torch.einsum("bhnd,bhde,bhn->bhne", q, kv, z)
