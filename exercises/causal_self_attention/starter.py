"""Causal self-attention: the attention layer of a decoder, with several heads."""

import torch
from torch import nn


class CausalSelfAttention(nn.Module):
    def __init__(self, d_model, num_heads, max_len=512, dropout=0.1):
        super().__init__()
        # Create W_query, W_key, W_value and W_out here, and whatever else you need.

    def forward(self, x):
        # x: (batch, time, d_model), with time at most max_len
        raise NotImplementedError("write your attention here")
        # return output (batch, time, d_model), weights (batch, num_heads, time, time)
