# verdict: loses numerics
# diagnosis: overflowing_softmax
import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, d_in, d_out_kq, d_out_v):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out_kq))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out_kq))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out_v))

    def forward(self, x):
        e = ((x @ self.W_query) @ (x @ self.W_key).T / self.W_key.shape[1] ** 0.5).exp()
        return e @ (x @ self.W_value) / e.sum(dim=1, keepdim=True)
