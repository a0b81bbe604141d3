# verdict: loses numerics
# diagnosis: scaled_by_d_k
import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.scale = d_out**-0.5
        self.W_query = nn.Parameter(torch.rand(d_in, d_out))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))

    def forward(self, x):
        q = (x @ self.W_query) * self.scale
        k = x @ self.W_key
        scores = q @ k.T * self.scale
        return scores.softmax(-1) @ (x @ self.W_value)
