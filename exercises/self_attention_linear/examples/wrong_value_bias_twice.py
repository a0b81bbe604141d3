# verdict: loses numerics
import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)

    def forward(self, x):
        q = self.W_query(x)
        k = self.W_key(x)
        v = self.W_value(x) + (self.W_value.bias if self.W_value.bias is not None else 0)
        s = q @ k.T
        w = torch.softmax(s / k.shape[-1] ** 0.5, dim=-1)
        return w @ v
