# verdict: loses numerics
# diagnosis: scaled_by_the_input_width
import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, d_in, d_out_kq, d_out_v):
        super().__init__()
        self.W_q = nn.Parameter(torch.randn(d_in, d_out_kq))
        self.W_k = nn.Parameter(torch.randn(d_in, d_out_kq))
        self.W_v = nn.Parameter(torch.randn(d_in, d_out_v))

    def forward(self, x):
        q, k, v = (x @ w for w in (self.W_q, self.W_k, self.W_v))
        scale = self.W_k.shape[0] ** -0.5
        return (q @ k.t() * scale).softmax(1) @ v
