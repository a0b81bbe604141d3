# verdict: loses shapes
import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)

    def forward(self, x):
        query = self.W_query(x[0])
        keys, values = self.W_key(x), self.W_value(x)
        return torch.softmax(query @ keys.T / keys.shape[-1] ** 0.5, dim=-1) @ values
