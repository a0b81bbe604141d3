"""Key-value cache: causal multi-head attention, one chunk of a text at a time."""

import torch
from torch import nn


class CachedCausalAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        # Create W_query, W_key, W_value and W_out here.

    def forward(self, x, cache=None):
        # x: (batch, time, d_model), the new tokens
        # cache: the cache that the previous call returned, or None for the first tokens of a text
        raise NotImplementedError("write your code here")
        # return output (batch, time, d_model), cache
