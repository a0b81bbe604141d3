# verdict: loses numerics
# diagnosis: keys_ask_queries
import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, d_in, d_out_kq, d_out_v):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out_kq))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out_kq))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out_v))

    def project(self, x):
        return x @ self.W_query, x @ self.W_key, x @ self.W_value

    def forward(self, x):
        k, q, v = self.project(x)
        return torch.softmax(q @ k.T / q.shape[1] ** 0.5, dim=1) @ v
