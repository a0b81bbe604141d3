# verdict: loses masking
# diagnosis: numbers_are_added
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class SelfAttention(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.W_query = nn.Linear(d_model, d_model)
        self.W_key = nn.Linear(d_model, d_model)
        self.W_value = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        q, k, v = self.W_query(x), self.W_key(x), self.W_value(x)
        bias = torch.zeros(q.size(1), k.size(1), dtype=q.dtype)
        if mask is not None:
            if mask.dtype == torch.bool:
                bias = bias.masked_fill(mask.logical_not(), float("-inf"))
            else:
                bias = mask + bias
        weights = torch.softmax(q @ k.transpose(-2, -1) * (1 / math.sqrt(q.size(-1))) + bias, dim=-1)
        return weights @ v, weights
