"""Self-attention over a batch, with a mask of the tokens that each token may attend to."""

import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        # Create W_query, W_key and W_value here: nn.Linear from d_model to d_model, with biases.

    def forward(self, x, mask=None):
        # x: (batch, time, d_model)
        # mask: None, or (time, time), (1 or batch, time, time) or (batch, 1, time); True or 1 = may attend
        raise NotImplementedError("write your attention here")
        # return output (batch, time, d_model), weights (batch, time, time)
