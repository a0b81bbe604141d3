# verdict: loses numerics
import torch
from torch import nn
import torch.nn.functional as F

class LinearAttentionCell(nn.Module):
    def feature_map(self, x):
        return F.elu(x) + 1

    def forward(self, q, k, v, state):
        S, z = state
        q, k = self.feature_map(q), self.feature_map(k)
        S = S + torch.einsum("bhd,bhm->bhdm", k, v)
        z = z + k
        num = torch.einsum("bhd,bhdm->bhm", q, S)
        den = torch.einsum("bhd,bhd->bh", q, z).unsqueeze(-1)
        return num / (den + 1e-8), (S, z)

def linear_attention(query, key, value, causal=False):
    B, H, T, D = query.shape
    cell = LinearAttentionCell()
    if not causal:
        fk = cell.feature_map(key)
        S = fk.transpose(-2, -1) @ value / T
        fq = cell.feature_map(query)
        return fq @ S / (fq @ fk.sum(-2).unsqueeze(-1))
    state = (query.new_zeros(B, H, D, value.shape[-1]), query.new_zeros(B, H, D))
    ys = []
    for t in range(T):
        y, state = cell(query[:, :, t], key[:, :, t], value[:, :, t], state)
        ys.append(y)
    return torch.stack(ys, dim=2)
