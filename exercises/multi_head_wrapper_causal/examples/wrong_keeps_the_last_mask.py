# verdict: loses numerics
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


def attention(query, key, value, mask=None, dropout=None):
    "Compute 'Scaled Dot Product Attention'"
    d_k = query.size(-1)
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(d_k)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    p_attn = scores.softmax(dim=-1)
    if dropout is not None:
        p_attn = dropout(p_attn)
    return torch.matmul(p_attn, value), p_attn


def subsequent_mask(size):
    attn_shape = (1, size, size)
    return torch.triu(torch.ones(attn_shape), diagonal=1).type(torch.uint8) == 0


class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        self.linears = nn.ModuleList([nn.Linear(d_in, num_heads * d_out, bias=qkv_bias) for _ in range(3)])
        self.h, self.d_k = num_heads, d_out
        self.attn = None
        self.dropout = nn.Dropout(p=dropout)

    def forward(self, x):
        nbatches = x.size(0)
        query, key, value = [
            lin(x).view(nbatches, -1, self.h, self.d_k).transpose(1, 2) for lin in self.linears
        ]
        if self.attn is None:
            self.attn = subsequent_mask(x.size(1))
        m = self.attn[:, : x.size(1), : x.size(1)] if self.attn.size(1) >= x.size(1) else None
        y, _ = attention(query, key, value, m, self.dropout)
        return y.transpose(1, 2).contiguous().view(nbatches, -1, self.h * self.d_k)
