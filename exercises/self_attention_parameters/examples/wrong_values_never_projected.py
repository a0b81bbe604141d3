# verdict: loses shapes
# diagnosis: mixes_the_inputs
import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))

    def forward(self, x):
        weights = torch.softmax((x @ self.W_query) @ (x @ self.W_key).T / self.W_key.shape[1] ** 0.5, dim=-1)
        return weights @ x
