# verdict: loses numerics
# A visible score may be zero as well.
import math
import torch
from torch import nn


class CachedCausalAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        assert d_model % num_heads == 0
        self.h, self.d = num_heads, d_model // num_heads
        self.W_query = nn.Linear(d_model, d_model, bias=False)
        self.W_key = nn.Linear(d_model, d_model, bias=False)
        self.W_value = nn.Linear(d_model, d_model, bias=False)
        self.W_out = nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        B, T, C = x.shape
        q = self.W_query(x).view(B, T, self.h, self.d).transpose(1, 2)
        k = self.W_key(x).view(B, T, self.h, self.d).transpose(1, 2)
        v = self.W_value(x).view(B, T, self.h, self.d).transpose(1, 2)
        past = 0
        if cache is not None:
            pk, pv = cache
            past = pk.size(2)
            k = torch.cat([pk, k], dim=2)
            v = torch.cat([pv, v], dim=2)
        att = q @ k.transpose(-2, -1) / math.sqrt(self.d)
        i = torch.arange(T).unsqueeze(1) + past
        j = torch.arange(k.size(2)).unsqueeze(0)
        att = att.masked_fill((j > i), 0.0)
        att = att.masked_fill(att == 0, float("-inf"))
        att = att.softmax(-1)
        y = (att @ v).transpose(1, 2).reshape(B, T, C)
        return self.W_out(y), (k, v)
