# verdict: loses numerics
import math
import torch
from torch import nn


class CachedCausalAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.W_query = nn.Linear(d_model, d_model, bias=False)
        self.W_key = nn.Linear(d_model, d_model, bias=False)
        self.W_value = nn.Linear(d_model, d_model, bias=False)
        self.W_out = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, cache=None):
        b, t, d = x.shape
        q, k, v = (f(x).view(b, t, self.num_heads, -1).transpose(1, 2) for f in (self.W_query, self.W_key, self.W_value))
        if cache is None:
            self.keys, self.values = k, v
        else:
            self.keys, self.values = torch.cat([self.keys, k], 2), torch.cat([self.values, v], 2)
        total = self.keys.size(2)
        scores = q @ self.keys.transpose(-2, -1) / math.sqrt(q.size(-1))
        hidden = torch.arange(total) > torch.arange(total - t, total)[:, None]
        out = scores.masked_fill(hidden, float("-inf")).softmax(-1) @ self.values
        return self.W_out(out.transpose(1, 2).reshape(b, t, d)), total
