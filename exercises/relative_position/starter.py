"""Relative positions: attention scores with a learned bias for each distance."""

import torch
from torch import nn


class RelativeSelfAttention(nn.Module):
    def __init__(self, d_model, num_heads, max_distance):
        super().__init__()
        # Create W_query, W_key, W_value, W_out and the table `relative_bias` here.

    def forward(self, x):
        # x: (batch, time, d_model)
        raise NotImplementedError("write your attention here")
        # return output (batch, time, d_model), weights (batch, num_heads, time, time)
