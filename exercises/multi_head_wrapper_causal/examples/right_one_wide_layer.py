# verdict: full marks
# All heads at once, with one layer each for queries, keys and values.
import torch
from torch import nn


class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        self.num_heads = num_heads
        wide = num_heads * d_out
        self.q_proj = nn.Linear(d_in, wide, bias=qkv_bias)
        self.k_proj = nn.Linear(d_in, wide, bias=qkv_bias)
        self.v_proj = nn.Linear(d_in, wide, bias=qkv_bias)
        self.drop = nn.Dropout(dropout)
        mask = torch.full((context_length, context_length), float("-inf")).triu(1)
        self.register_buffer("mask", mask, persistent=False)

    def forward(self, x):
        B, T, _ = x.shape
        q, k, v = (f(x).view(B, T, self.num_heads, -1).transpose(1, 2) for f in (self.q_proj, self.k_proj, self.v_proj))
        s = q @ k.transpose(2, 3) / k.shape[3] ** 0.5 + self.mask[:T, :T].to(q.dtype)
        return (self.drop(s.softmax(3)) @ v).transpose(1, 2).reshape(B, T, -1)
