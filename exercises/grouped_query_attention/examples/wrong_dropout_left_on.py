# verdict: loses numerics
import torch
from torch import nn

class GroupedQueryAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, num_kv_heads):
        super().__init__()
        if num_heads % num_kv_heads != 0:
            raise ValueError(f"num_heads ({num_heads}) must be divisible by num_kv_heads ({num_kv_heads})")
        self.num_heads, self.num_kv_heads, self.embed_dim = num_heads, num_kv_heads, embed_dim
        self.head_dim = embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, num_heads * self.head_dim, bias=False)
        self.k_proj = nn.Linear(embed_dim, num_kv_heads * self.head_dim, bias=False)
        self.v_proj = nn.Linear(embed_dim, num_kv_heads * self.head_dim, bias=False)
        self.output_proj = nn.Linear(embed_dim, embed_dim, bias=False)

    def forward(self, x, y=None):
        y = x if y is None else y
        b, s_x, _ = x.shape
        s_y = y.shape[1]
        q = self.q_proj(x)
        q_per_kv = self.num_heads // self.num_kv_heads
        q = q.view(b, s_x, self.num_kv_heads * q_per_kv, self.head_dim).transpose(1, 2)
        k = self.k_proj(y).view(b, s_y, -1, self.head_dim).transpose(1, 2)
        v = self.v_proj(y).view(b, s_y, -1, self.head_dim).transpose(1, 2)
        expand_shape = (b, self.num_kv_heads, q_per_kv, -1, self.head_dim)
        k = k.unsqueeze(2).expand(expand_shape).flatten(1, 2)
        v = v.unsqueeze(2).expand(expand_shape).flatten(1, 2)
        scores = q @ k.transpose(-1, -2) * self.head_dim**-0.5
        keep = torch.arange(s_y)[None, :] <= torch.arange(s_x)[:, None]
        w = scores.masked_fill(~keep, float("-inf")).softmax(-1)
        w = torch.nn.functional.dropout(w, 0.1)
        output = (w @ v).transpose(1, 2).contiguous().view(b, s_x, -1)
        return self.output_proj(output)
