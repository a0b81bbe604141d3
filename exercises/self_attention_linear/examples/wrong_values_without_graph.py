# verdict: loses gradients
# diagnosis: values_cut_off
import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)

    def forward(self, x):
        with torch.no_grad():
            values = self.W_value(x)
        q, k = self.W_query(x), self.W_key(x)
        return torch.softmax(q @ k.T / k.shape[-1] ** 0.5, dim=-1) @ values
