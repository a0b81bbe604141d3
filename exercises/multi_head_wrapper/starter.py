"""Several heads of self-attention, wrapped in one module."""

import torch
from torch import nn


class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out_kq, d_out_v, num_heads):
        super().__init__()
        # Create num_heads heads here, each with W_query, W_key and W_value of its own.

    def forward(self, x):
        # x: (time, d_in)
        raise NotImplementedError("write your heads here")
        # return (time, num_heads * d_out_v)
