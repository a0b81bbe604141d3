# verdict: loses numerics
# diagnosis: keys_and_values_swapped_in_the_cache
import math
import torch
from torch import nn


class CachedCausalAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.h, self.d = num_heads, d_model // num_heads
        self.W_query = nn.Linear(d_model, d_model, bias=False)
        self.W_key = nn.Linear(d_model, d_model, bias=False)
        self.W_value = nn.Linear(d_model, d_model, bias=False)
        self.W_out = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, cache=None):
        B, T, C = x.shape
        q, k, v = (w(x).view(B, T, self.h, self.d).transpose(1, 2) for w in (self.W_query, self.W_key, self.W_value))
        if cache is not None:
            k = torch.cat([cache[0], k], dim=2)
            v = torch.cat([cache[1], v], dim=2)
        att = q @ k.transpose(-2, -1) / math.sqrt(self.d)
        att = att.masked_fill(torch.ones(T, k.size(2)).triu(k.size(2) - T + 1).bool(), float("-inf"))
        y = (att.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C)
        return self.W_out(y), (v, k)
