"""Grouped-query attention: each group of query heads shares one key and value head."""

import torch
from torch import nn


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        # Create W_query, W_key, W_value and W_out here, without biases, and whatever else you need.

    def forward(self, x):
        # x: (batch, time, d_model)
        raise NotImplementedError("write your attention here")
        # queries: (batch, num_heads, time, d_model // num_heads)
        # keys, values: (batch, num_kv_heads, time, d_model // num_heads)
        # return (batch, time, d_model)
