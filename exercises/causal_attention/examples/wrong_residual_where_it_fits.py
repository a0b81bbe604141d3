# verdict: loses numerics
import math

import torch
import torch.nn as nn


class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)
        self.scale = 1 / math.sqrt(d_out)

    def forward(self, x):
        b, t, c = x.shape
        att = self.query(x) @ self.key(x).transpose(-2, -1) * self.scale
        att = att + torch.full((t, t), float("-inf")).triu(1)
        y = self.dropout(att.softmax(dim=-1)) @ self.value(x)
        if y.shape[-1] == c:
            y = y + x
        return y
