# verdict: full marks
import torch
from torch import nn


class CausalSelfAttention(nn.Module):
    def __init__(self, d_model, num_heads, max_len=512, dropout=0.1):
        super().__init__()
        self.h, self.d = num_heads, d_model // num_heads

        self.qk = nn.ModuleList(nn.Linear(d_model, 2 * self.d, bias=True) for _ in range(num_heads))
        self.v = nn.ModuleList(nn.Linear(d_model, self.d, bias=True) for _ in range(num_heads))
        self.W_out = nn.Linear(d_model, d_model)
        self.drop = nn.Dropout(dropout)

    def forward(self, x):
        b, t = x.shape[:2]
        h, d = self.h, self.d
        q, k = torch.stack([f(x) for f in self.qk], 1).chunk(2, -1)
        v = torch.stack([f(x) for f in self.v], 1)
        # q, k, v: b h t d
        s = q @ k.mT / d ** 0.5
        s = s.masked_fill(torch.ones(t, t, dtype=torch.bool).triu(1), -torch.inf)
        w = s.softmax(-1)
        y = self.W_out((self.drop(w) @ v).transpose(1, 2).flatten(2))
        return y, w
