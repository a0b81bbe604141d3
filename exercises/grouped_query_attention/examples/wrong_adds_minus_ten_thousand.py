# verdict: loses masking
# -10000 is enough only while no hidden score is that far above the visible ones.
import torch
import torch.nn as nn
import torch.nn.functional as F


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        self.heads, self.kv_heads = num_heads, num_kv_heads
        self.head_dim = d_model // num_heads
        self.to_q = nn.Linear(d_model, d_model, bias=False)
        self.to_kv = nn.Linear(d_model, 2 * num_kv_heads * self.head_dim, bias=False)
        self.to_out = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x):
        q = self.to_q(x).unflatten(-1, (self.heads, self.head_dim)).transpose(1, 2)
        k, v = self.to_kv(x).unflatten(-1, (2, self.kv_heads, self.head_dim)).permute(2, 0, 3, 1, 4)
        q = q.unflatten(1, (self.kv_heads, -1))  # (B, g, r, T, d)
        scores = q @ k.unsqueeze(2).mT / self.head_dim**0.5
        time = x.shape[1]
        hidden = torch.arange(time) > torch.arange(time)[:, None]
        scores = scores + hidden * -10000.0
        weights = F.softmax(scores, dim=-1)
        out = (weights @ v.unsqueeze(2)).flatten(1, 2)  # (B, h, T, d)
        return self.to_out(out.transpose(1, 2).flatten(2))
