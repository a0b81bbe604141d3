# verdict: loses masking
# diagnosis: numbers_only
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
        scores = q @ k.mT / x.shape[-1] ** 0.5
        if mask is not None:
            scores = scores + (1.0 - mask) * -1e9
        weights = torch.softmax(scores, dim=-1)
        return weights @ v, weights
