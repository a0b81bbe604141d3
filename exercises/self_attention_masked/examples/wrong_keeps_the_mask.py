# verdict: loses numerics
import math

import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.W_query = nn.Linear(d_model, d_model)
        self.W_key = nn.Linear(d_model, d_model)
        self.W_value = nn.Linear(d_model, d_model)
        self.mask = None

    def forward(self, x, mask=None):
        if mask is not None:
            self.mask = mask  # remembered, and never forgotten
        scores = self.W_query(x) @ self.W_key(x).transpose(1, 2) / math.sqrt(x.shape[-1])
        if self.mask is not None and self.mask.shape[-1] == x.shape[1]:
            scores = scores.masked_fill(self.mask == 0, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        return weights @ self.W_value(x), weights
