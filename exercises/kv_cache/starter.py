"""Key-value cache: causal multi-head attention, one chunk of a text at a time."""

import torch
from torch import nn


class CachedCausalAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        # W_query, W_key, W_value, W_out

    def forward(self, x, cache=None):
        # x: (batch, time, d_model), the new tokens; cache: what you returned for the tokens before, None at the start
        raise NotImplementedError("write your answer here")
        # return output (batch, time, d_model), cache
