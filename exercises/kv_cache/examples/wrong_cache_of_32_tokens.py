# verdict: loses numerics
import torch
from torch import nn
class CachedCausalAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.h = num_heads
        self.W_query = nn.Linear(d_model, d_model, bias=False)
        self.W_key = nn.Linear(d_model, d_model, bias=False)
        self.W_value = nn.Linear(d_model, d_model, bias=False)
        self.W_out = nn.Linear(d_model, d_model, bias=False)
    def forward(self, x, cache=None):
        b, t, d = x.shape
        q, k, v = (w(x).view(b, t, self.h, -1).transpose(1, 2) for w in (self.W_query, self.W_key, self.W_value))
        p = 0
        if cache is not None:
            p = cache[0].shape[2]
            k = torch.cat([cache[0], k], dim=2)
            v = torch.cat([cache[1], v], dim=2)
        s = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        i = torch.arange(t)[:, None] + p
        j = torch.arange(p + t)[None, :]
        s = s.masked_fill(j > i, float("-inf"))
        o = torch.softmax(s, dim=-1) @ v
        o = o.transpose(1, 2).reshape(b, t, d)
        return self.W_out(o), (k[:, :, -32:], v[:, :, -32:])
