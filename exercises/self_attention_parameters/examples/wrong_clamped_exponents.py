# verdict: loses numerics
import math

import torch
import torch.nn as nn


class SelfAttention(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        for name in ("W_query", "W_key", "W_value"):
            setattr(self, name, nn.Parameter(torch.empty(d_in, d_out).normal_()))

    def forward(self, x):
        q, k, v = (x @ w for w in (self.W_query, self.W_key, self.W_value))
        s = q @ k.t() / math.sqrt(k.size(1))
        s = s - s.max(1, keepdim=True).values
        e = torch.exp(torch.clamp(s, -30, 0))
        return (e / e.sum(1, keepdim=True)) @ v
