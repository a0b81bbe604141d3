"""Self-attention whose values may have a different width from queries and keys."""

import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, d_in, d_out_kq, d_out_v):
        super().__init__()
        # Create W_query, W_key and W_value here. What is the shape of each?

    def forward(self, x):
        # x: (time, d_in), one sequence without a batch axis
        raise NotImplementedError("write your attention here")
        # return (time, d_out_v)
