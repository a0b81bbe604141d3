"""Self-attention: every token attends to all tokens of its sequence."""

import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        # Create W_query, W_key and W_value here: nn.Parameter, (d_in, d_out).

    def forward(self, x):
        # x: (time, d_in), one sequence without a batch axis
        raise NotImplementedError("write your attention here")
        # return (time, d_out)
