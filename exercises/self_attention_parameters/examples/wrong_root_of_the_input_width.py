# verdict: loses numerics
# diagnosis: scaled_by_the_input_width
import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))
        self.scale = d_in**0.5

    def forward(self, x):
        Q, K, V = x.mm(self.W_query), x.mm(self.W_key), x.mm(self.W_value)
        A = (Q.mm(K.T) / self.scale).softmax(dim=-1)
        return A.mm(V)
