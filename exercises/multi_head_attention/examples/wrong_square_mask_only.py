# verdict: loses masking
# diagnosis: mask_transposed
import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.1):
        super().__init__()
        self.h, self.d = num_heads, d_model // num_heads
        self.q = nn.Linear(d_model, d_model)
        self.k = nn.Linear(d_model, d_model)
        self.v = nn.Linear(d_model, d_model)
        self.o = nn.Linear(d_model, d_model)
        self.drop = nn.Dropout(dropout)

    def heads(self, x):
        return x.view(x.size(0), x.size(1), self.h, self.d).transpose(1, 2)

    def forward(self, query, key, value, mask=None):
        q, k, v = self.heads(self.q(query)), self.heads(self.k(key)), self.heads(self.v(value))
        scores = q @ k.transpose(-1, -2) / math.sqrt(self.d)
        if mask is not None:
            mask = mask.permute(0, 1, 3, 2)
            scores = scores.masked_fill(mask == 0, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        out = (self.drop(weights) @ v).transpose(1, 2).flatten(2)
        return self.o(out), weights
