# verdict: loses numerics
# diagnosis: overflowing_softmax
import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))

    def forward(self, x):
        q, k, v = x @ self.W_query, x @ self.W_key, x @ self.W_value
        e = torch.exp(q @ k.T / k.shape[-1] ** 0.5)
        return (e / e.sum(dim=1, keepdim=True)) @ v
