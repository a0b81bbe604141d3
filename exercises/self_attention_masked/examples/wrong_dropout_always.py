# verdict: loses numerics
import torch
from torch import nn

class SelfAttention(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.W_query = nn.Linear(d_model, d_model)
        self.W_key = nn.Linear(d_model, d_model)
        self.W_value = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        queries = self.W_query(x)
        keys = self.W_key(x)
        values = self.W_value(x)
        scores = queries @ keys.transpose(-2, -1) / keys.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        weights = nn.functional.dropout(weights, 0.1)
        return weights @ values, weights
