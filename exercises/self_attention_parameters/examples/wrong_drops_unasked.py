# verdict: loses numerics
import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))

    def forward(self, x):
        q = x @ self.W_query
        k = x @ self.W_key
        v = x @ self.W_value
        s = q @ k.T
        w = torch.softmax(s / k.shape[-1] ** 0.5, dim=-1)
        w = nn.functional.dropout(w, 0.2, self.training)
        return w @ v
