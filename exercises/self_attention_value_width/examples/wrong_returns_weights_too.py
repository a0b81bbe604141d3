# verdict: loses shapes
# diagnosis: weights_beside_the_context
import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, d_in, d_out_kq, d_out_v):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out_kq))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out_kq))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out_v))
        self.scale = d_out_kq**-0.5

    def forward(self, x):
        w = ((x @ self.W_query) @ (x @ self.W_key).T * self.scale).softmax(-1)
        return w @ (x @ self.W_value), w
