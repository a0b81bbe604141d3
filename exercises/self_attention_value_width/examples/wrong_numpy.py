# verdict: loses gradients
# diagnosis: everything_cut_off
import numpy as np
import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, d_in, d_out_kq, d_out_v):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out_kq))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out_kq))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out_v))

    def forward(self, x):
        q, k, v = ((x @ w).detach().numpy() for w in (self.W_query, self.W_key, self.W_value))
        scores = q @ k.T / np.sqrt(k.shape[1])
        e = np.exp(scores - scores.max(axis=1, keepdims=True))
        return torch.from_numpy(e / e.sum(axis=1, keepdims=True) @ v)
