# verdict: loses numerics
# diagnosis: scaled_by_the_width_itself
import math

import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, d_in, d_out_kq, d_out_v):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out_kq))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out_kq))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out_v))
        self.root = math.sqrt(d_out_kq)

    def forward(self, x):
        q = x @ self.W_query / self.root
        k = x @ self.W_key / self.root
        return torch.softmax(q @ k.T, dim=-1) @ (x @ self.W_value)
