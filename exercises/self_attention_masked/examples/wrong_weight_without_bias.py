# verdict: loses numerics
# diagnosis: biases_ignored
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
        q, k, v = (x @ layer.weight.T for layer in (self.W_query, self.W_key, self.W_value))
        scores = q @ k.mT / math.sqrt(x.size(-1))
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        weights = F.softmax(scores, dim=-1)
        return weights @ v, weights
