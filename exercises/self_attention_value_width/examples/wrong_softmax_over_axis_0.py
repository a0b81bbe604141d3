# verdict: loses numerics
# diagnosis: softmax_over_queries
import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, d_in, d_out_kq, d_out_v):
        super().__init__()
        self.query = nn.Linear(d_in, d_out_kq, bias=False)
        self.key = nn.Linear(d_in, d_out_kq, bias=False)
        self.value = nn.Linear(d_in, d_out_v, bias=False)
        self.softmax = nn.Softmax(dim=0)

    def forward(self, x):
        k = self.key(x)
        return self.softmax(self.query(x) @ k.T / k.shape[-1] ** 0.5) @ self.value(x)
