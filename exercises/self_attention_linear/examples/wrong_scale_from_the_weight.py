# verdict: loses numerics
# diagnosis: scaled_by_the_input_width
import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)

    def forward(self, x):
        q, k, v = self.W_query(x), self.W_key(x), self.W_value(x)
        scale = self.W_query.weight.shape[1] ** 0.5  # worked with nn.Parameter
        return torch.softmax(q @ k.T / scale, dim=-1) @ v
