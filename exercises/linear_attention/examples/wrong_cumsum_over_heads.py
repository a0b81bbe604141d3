# verdict: loses numerics
import torch
import torch.nn.functional as F
from torch import nn

def elu_feature_map(x):
    return F.elu(x) + 1

class LinearAttention(nn.Module):
    def __init__(self, feature_map=None, eps=1e-6):
        super().__init__()
        self.feature_map = feature_map or elu_feature_map
        self.eps = eps

    def forward(self, queries, keys, values):
        # N L H D
        Q = self.feature_map(queries)
        K = self.feature_map(keys)
        KV = torch.einsum("nshd,nshm->nhmd", K, values)
        Z = 1 / (torch.einsum("nlhd,nhd->nlh", Q, K.sum(dim=1)) + self.eps)
        V = torch.einsum("nlhd,nhmd,nlh->nlhm", Q, KV, Z)
        return V.contiguous()

class CausalLinearAttention(LinearAttention):
    def forward(self, queries, keys, values):
        Q = self.feature_map(queries).permute(0, 2, 1, 3).contiguous()
        K = self.feature_map(keys).permute(0, 2, 1, 3).contiguous()
        V = values.permute(0, 2, 1, 3).contiguous()
        Z = 1 / (torch.einsum("nhli,nhli->nhl", Q, K.cumsum(1)) + self.eps)
        out, state = [], 0
        for t in range(Q.shape[2]):
            state = state + K[:, :, t, :, None] * V[:, :, t, None, :]
            out.append((Q[:, :, t, None, :] @ state).squeeze(2))
        V_new = torch.stack(out, dim=2)
        return (V_new * Z[:, :, :, None]).permute(0, 2, 1, 3)

def linear_attention(query, key, value, causal=False):
    layer = CausalLinearAttention() if causal else LinearAttention()
    q, k, v = (t.transpose(1, 2) for t in (query, key, value))
    return layer(q, k, v).transpose(1, 2)
