"""Multi-head attention: several heads attend from queries to keys in parallel."""

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.1):
        super().__init__()
        # Create W_query, W_key, W_value and W_out here, and whatever else you need.

    def forward(self, query, key, value, mask=None):
        # query: (batch, queries, d_model); key, value: (batch, keys, d_model)
        # mask: None, (batch, 1, queries, keys) or (batch, 1, 1, keys); True where a query may attend
        raise NotImplementedError("write your attention here")
        # return output (batch, queries, d_model), weights (batch, num_heads, queries, keys)
