"""Self-attention whose values have a width of their own."""

import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, d_in, d_out_kq, d_out_v):
        super().__init__()
        # Create W_query, W_key and W_value here. Which of them has which width?

    def forward(self, x):
        # x: (time, d_in), one sequence without a batch axis
        raise NotImplementedError("write your attention here")
        # return (time, d_out_v)
