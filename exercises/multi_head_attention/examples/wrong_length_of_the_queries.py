# verdict: loses shapes
import torch
import torch.nn as nn


class MultiHeadAttention(nn.Module):
    """Only ever tried with one sequence: there T_q and T_k are the same."""

    def __init__(self, d_model, num_heads, dropout=0.1):
        super().__init__()
        self.n_heads = num_heads
        self.d_head = d_model // num_heads
        self.W_query = nn.Linear(d_model, d_model)
        self.W_key = nn.Linear(d_model, d_model)
        self.W_value = nn.Linear(d_model, d_model)
        self.W_out = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        batch, time, d_model = query.shape
        queries = self.W_query(query).view(batch, time, self.n_heads, self.d_head).transpose(1, 2)
        keys = self.W_key(key).view(batch, time, self.n_heads, self.d_head).transpose(1, 2)
        values = self.W_value(value).view(batch, time, self.n_heads, self.d_head).transpose(1, 2)
        scores = queries @ keys.transpose(2, 3) / self.d_head**0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = scores.softmax(dim=-1)
        context = (self.dropout(weights) @ values).transpose(1, 2).reshape(batch, time, d_model)
        return self.W_out(context), weights
