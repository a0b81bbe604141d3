# verdict: loses numerics
import torch
from einops import einsum, rearrange
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, dim, heads, dropout=0.1):
        super().__init__()
        self.heads, self.scale = heads, (dim // heads) ** -0.5
        self.to_q = nn.Linear(dim, dim)
        self.to_k = nn.Linear(dim, dim)
        self.to_v = nn.Linear(dim, dim)
        self.to_out = nn.Linear(dim, dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, context, values, mask=None):
        q, k, v = self.to_q(x), self.to_k(context), self.to_v(values)
        q, k, v = (rearrange(t, "b n (h d) -> b h n d", h=self.heads) for t in (q, k, v))
        sim = einsum(q, k, "b h i d, b h j d -> b h i j") * self.scale
        if mask is not None:
            sim = sim.masked_fill(~mask, float("-inf"))
        attn = sim.softmax(dim=-1)
        out = einsum(self.dropout(attn), v, "b h i j, b h j d -> b h i d")
        return self.to_out(rearrange(out, "b h n d -> b n (d h)")), attn
