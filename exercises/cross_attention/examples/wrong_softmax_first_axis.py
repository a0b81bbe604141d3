# verdict: loses numerics
# diagnosis: softmax_over_the_questions
import torch
from torch import nn


class CrossAttention(nn.Module):
    def __init__(self, d_in, d_out_kq, d_out_v):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out_kq))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out_kq))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out_v))

    def forward(self, x_1, x_2):
        q, k, v = x_1 @ self.W_query, x_2 @ self.W_key, x_2 @ self.W_value
        return torch.softmax(q @ k.T / k.shape[1] ** 0.5, dim=0) @ v
