# verdict: full marks
# No mask at all: row t is given the first t + 1 keys and no others.
import torch
from torch import nn


class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        q, k, v = self.W_query(x), self.W_key(x), self.W_value(x)
        out = torch.empty_like(v)
        for t in range(x.shape[1]):
            s = torch.bmm(q[:, t : t + 1], k[:, : t + 1].transpose(1, 2)) / q.shape[-1] ** 0.5
            s = s - s.max(dim=-1, keepdim=True)[0]
            w = s.exp() / s.exp().sum(dim=-1, keepdim=True)
            out[:, t] = torch.bmm(self.dropout(w), v[:, : t + 1]).squeeze(1)
        return out
