# verdict: loses numerics
import torch
from torch import nn, einsum

class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, query_heads, kv_heads):
        super().__init__()
        self.query_heads = query_heads
        self.kv_heads = kv_heads
        self.scale = (d_model // query_heads) ** -0.5
        kv_embed_dim = d_model // query_heads * kv_heads
        self.q_proj = nn.Linear(d_model, d_model, bias=False)
        self.k_proj = nn.Linear(d_model, kv_embed_dim, bias=False)
        self.v_proj = nn.Linear(d_model, kv_embed_dim, bias=False)
        self.out_proj = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x):
        b, n, _ = x.shape
        g = self.query_heads // self.kv_heads
        q = self.q_proj(x).unflatten(-1, (self.kv_heads, g, -1)).permute(0, 3, 2, 1, 4)   # b g h n d
        k = self.k_proj(x).unflatten(-1, (self.kv_heads, -1)).permute(0, 2, 1, 3)
        v = self.v_proj(x).unflatten(-1, (self.kv_heads, -1)).permute(0, 2, 1, 3)
        similarity = einsum("bghnd,bhsd->bghns", q, k) * self.scale
        mask = torch.ones((n, n), dtype=torch.bool).tril_()
        similarity.masked_fill_(~mask, torch.finfo(similarity.dtype).min)
        attention = similarity.softmax(dim=-1)
        out = einsum("bghns,bhsd->bghnd", attention, v)
        out = out.permute(0, 3, 1, 2, 4).flatten(2)
        return self.out_proj(out)
