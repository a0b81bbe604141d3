"""Causal multi-head attention: several heads attend in parallel, never to later positions."""

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        # Raise an exception if num_heads does not divide d_out.
        # Create W_query, W_key, W_value and W_out here, and whatever else you need.

    def forward(self, x):
        # x: (batch, time, d_in), with time at most context_length
        raise NotImplementedError("write your attention here")
        # queries, keys, values: (batch, num_heads, time, d_out // num_heads)
        # return (batch, time, d_out)
