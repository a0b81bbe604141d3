"""Self-attention with linear layers: every token attends to all tokens of its sequence."""

import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super().__init__()
        # Create W_query, W_key and W_value here: nn.Linear from d_in to d_out.

    def forward(self, x):
        # x: (time, d_in), one sequence without a batch axis
        raise NotImplementedError("write your attention here")
        # return (time, d_out)
