# verdict: loses masking
# diagnosis: padding_on_both_axes
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
        scores = q @ k.mT / math.sqrt(x.size(-1))
        if mask is not None:
            mask = mask.bool()
            if mask.dim() == 3 and mask.size(1) == 1:
                mask = mask & mask.transpose(1, 2)
            scores = scores.masked_fill(~mask, -1e9)
        weights = F.softmax(scores, dim=-1)
        return weights @ v, weights
