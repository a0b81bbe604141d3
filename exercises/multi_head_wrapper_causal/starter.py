"""Several heads of causal attention, wrapped in one module."""

import torch
from torch import nn


class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        # Create num_heads causal heads here, each with W_query, W_key and W_value of its own.

    def forward(self, x):
        # x: (batch, time, d_in), with time at most context_length
        raise NotImplementedError("write your heads here")
        # return (batch, time, num_heads * d_out)
