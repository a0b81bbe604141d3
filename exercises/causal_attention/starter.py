"""Causal attention: each position attends to itself and to earlier positions."""

import torch
from torch import nn


class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        # Create W_query, W_key and W_value here, and whatever else you need.

    def forward(self, x):
        # x: (batch, time, d_in), with time at most context_length
        raise NotImplementedError("write your attention here")
        # return (batch, time, d_out)
