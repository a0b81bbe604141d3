# verdict: loses numerics
import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super().__init__()
        self.layers = [nn.Linear(d_in, d_out, bias=qkv_bias) for _ in range(3)]

    def forward(self, x):
        q, k, v = (layer(x) for layer in self.layers)
        return torch.softmax(q @ k.T / k.shape[-1] ** 0.5, dim=-1) @ v
