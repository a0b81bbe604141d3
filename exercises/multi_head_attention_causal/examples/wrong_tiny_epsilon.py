# verdict: loses gradients
import torch
import torch.nn as nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        assert d_out % num_heads == 0, "d_out must be divisible by num_heads"
        self.num_heads, self.head_dim = num_heads, d_out // num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)

    def _heads(self, t):
        return t.unflatten(-1, (self.num_heads, self.head_dim)).transpose(1, 2)

    def forward(self, x):
        q, k, v = map(self._heads, (self.W_query(x), self.W_key(x), self.W_value(x)))
        scores = q @ k.transpose(2, 3) / self.head_dim**0.5
        future = torch.triu(torch.ones_like(scores, dtype=torch.bool), diagonal=1)
        scores = scores.masked_fill(future, float("-inf"))
        exps = torch.exp(scores - scores.max(dim=-1, keepdim=True).values)
        weights = exps / (exps.sum(dim=-1, keepdim=True) + 1e-10)
        return self.out_proj((self.dropout(weights) @ v).transpose(1, 2).flatten(2))
