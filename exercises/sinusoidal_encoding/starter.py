"""Sinusoidal positional encoding: add an encoding of its position to each token."""

import torch
from torch import nn


class SinusoidalPositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=5000, dropout=0.1):
        super().__init__()
        # Compute the table of encodings here, (max_len, d_model), and store it in the module.

    def forward(self, x):
        # x: (batch, time, d_model), with time at most max_len
        raise NotImplementedError("add the encodings here")
        # return (batch, time, d_model)
