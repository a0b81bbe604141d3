# verdict: loses shapes
# diagnosis: mixes_the_keys
import torch
from torch import nn


class CrossAttention(nn.Module):
    def __init__(self, d_in, d_out_kq, d_out_v):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out_kq, bias=False)
        self.W_key = nn.Linear(d_in, d_out_kq, bias=False)
        self.W_value = nn.Linear(d_in, d_out_v, bias=False)

    def forward(self, x_1, x_2):
        k = self.W_key(x_2)
        return torch.softmax(self.W_query(x_1) @ k.T / k.shape[-1] ** 0.5, dim=-1) @ k
