# verdict: loses gradients
import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.d_out = d_out
        self.W_query = nn.Parameter(torch.rand(d_in, d_out))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))

    def forward(self, x):
        scores = (x @ self.W_query) @ (x @ self.W_key).T / self.d_out**0.5
        numerator = torch.exp(scores - scores.max(dim=1, keepdim=True).values)
        weights = numerator / (numerator.sum(dim=1, keepdim=True) + 1e-10)
        return weights @ (x @ self.W_value)
