# verdict: loses shapes
# diagnosis: roles_swapped
import torch
from torch import nn


class CrossAttention(nn.Module):
    def __init__(self, d_in, d_out_kq, d_out_v):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out_kq, bias=False)
        self.W_key = nn.Linear(d_in, d_out_kq, bias=False)
        self.W_value = nn.Linear(d_in, d_out_v, bias=False)

    def forward(self, x_1, x_2):
        q, k, v = self.W_query(x_2), self.W_key(x_1), self.W_value(x_1)
        return torch.softmax(q @ k.T / k.shape[-1] ** 0.5, dim=-1) @ v
