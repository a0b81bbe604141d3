# verdict: loses numerics
# diagnosis: scaled_by_the_values_width
import torch
from torch import nn


class CrossAttention(nn.Module):
    def __init__(self, d_in, d_out_kq, d_out_v):
        super().__init__()
        self.d_out_v = d_out_v
        self.W_query = nn.Parameter(torch.rand(d_in, d_out_kq))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out_kq))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out_v))

    def forward(self, x_1, x_2):
        q, k, v = x_1 @ self.W_query, x_2 @ self.W_key, x_2 @ self.W_value
        return torch.softmax(q @ k.T / self.d_out_v**0.5, dim=-1) @ v
