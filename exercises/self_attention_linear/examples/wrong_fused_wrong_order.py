# verdict: loses numerics
# diagnosis: keys_ask_queries
import torch
from torch import nn
class SelfAttention(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super().__init__()
        self.qkv = nn.Linear(d_in, 3 * d_out, bias=qkv_bias)
    def forward(self, x):
        k, q, v = self.qkv(x).chunk(3, dim=-1)
        return torch.softmax(q @ k.T / q.shape[-1] ** 0.5, dim=-1) @ v
