# verdict: loses masking
import torch
import torch.nn as nn

class CachedCausalAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads, self.head_dim = num_heads, d_model // num_heads
        self.W_query = nn.Linear(d_model, d_model, bias=False)
        self.W_key = nn.Linear(d_model, d_model, bias=False)
        self.W_value = nn.Linear(d_model, d_model, bias=False)
        self.W_out = nn.Linear(d_model, d_model, bias=False)
        self.register_buffer("cache_k", None, persistent=False)
        self.register_buffer("cache_v", None, persistent=False)

    def forward(self, x, cache=None):
        b, t, d = x.shape
        q, k, v = (f(x).view(b, t, self.num_heads, self.head_dim) for f in (self.W_query, self.W_key, self.W_value))
        if self.cache_k is None or self.cache_k.shape[0] != b:
            self.cache_k, self.cache_v = k, v
        else:
            self.cache_k = torch.cat([self.cache_k, k], dim=1)
            self.cache_v = torch.cat([self.cache_v, v], dim=1)
        k, v = self.cache_k.transpose(1, 2), self.cache_v.transpose(1, 2)
        s = q.transpose(1, 2) @ k.transpose(2, 3) / self.head_dim ** 0.5
        P = k.shape[2] - t
        s = s.masked_fill(torch.ones(t, P + t).triu(P + 1).bool(), -torch.inf)
        out = (s.softmax(-1) @ v).transpose(1, 2).reshape(b, t, d)
        return self.W_out(out), True
