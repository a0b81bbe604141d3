# verdict: loses numerics
import torch
from torch import nn


class CrossAttention(nn.Module):
    def __init__(self, d_in, d_out_kq, d_out_v):
        super().__init__()
        self.d_in, self.d_out_kq, self.d_out_v = d_in, d_out_kq, d_out_v

    def forward(self, x_1, x_2):
        q = nn.Linear(self.d_in, self.d_out_kq)(x_1)
        k = nn.Linear(self.d_in, self.d_out_kq)(x_2)
        v = nn.Linear(self.d_in, self.d_out_v)(x_2)
        return torch.softmax(q @ k.T / k.shape[-1] ** 0.5, dim=-1) @ v
