# verdict: loses numerics
# diagnosis: shifted_by_the_largest_of_all
import torch
from torch import nn


def my_softmax(z):
    z = torch.exp(z - z.max())
    return z / z.sum(dim=-1, keepdim=True)


class SelfAttention(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)

    def forward(self, x):
        keys = self.W_key(x)
        scores = self.W_query(x) @ keys.T
        return my_softmax(scores / keys.shape[-1] ** 0.5) @ self.W_value(x)
