# verdict: loses masking
import torch
import torch.nn.functional as F


def linear_attention(query, key, value, causal=False):
    q, k = F.elu(query) + 1, F.elu(key) + 1
    if not causal:
        return q @ (k.mT @ value) / (q @ k.sum(2, keepdim=True).mT)
    S = torch.zeros(*q.shape[:2], q.shape[3], value.shape[3], dtype=q.dtype)
    z = torch.zeros(*q.shape[:2], q.shape[3], dtype=q.dtype)
    out = []
    for i in range(q.shape[2]):
        out.append(torch.einsum("bhd,bhdv->bhv", q[:, :, i], S) / ((q[:, :, i] * z).sum(-1, keepdim=True) + 1e-6))
        S = S + torch.einsum("bhd,bhv->bhdv", k[:, :, i], value[:, :, i])
        z = z + k[:, :, i]
    return torch.stack(out, 2)
