# verdict: loses numerics
# diagnosis: softmax_over_queries
import math

import torch
import torch.nn as nn


class SelfAttention(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.d = d_out
        self.wq = nn.Parameter(torch.rand(d_in, d_out))
        self.wk = nn.Parameter(torch.rand(d_in, d_out))
        self.wv = nn.Parameter(torch.rand(d_in, d_out))

    def forward(self, x):
        scores = (x @ self.wq) @ (x @ self.wk).T / math.sqrt(self.d)
        weights = torch.softmax(scores, dim=0)
        return weights @ (x @ self.wv)
