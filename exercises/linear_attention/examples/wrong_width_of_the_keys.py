# verdict: loses shapes
import torch
import torch.nn.functional as F


def linear_attention(query, key, value, causal=False):
    q, k = F.elu(query) + 1, F.elu(key) + 1
    B, H, T, D = q.shape
    S, z, outs = torch.zeros(B, H, D, D, dtype=q.dtype), torch.zeros(B, H, D, dtype=q.dtype), []
    for t in range(T):
        S += torch.einsum("bhd,bhv->bhdv", k[:, :, t], value[:, :, t])
        z += k[:, :, t]
        outs.append(torch.einsum("bhd,bhdv->bhv", q[:, :, t], S) / (q[:, :, t] * z).sum(-1, keepdim=True))
    return torch.stack(outs, 2)
