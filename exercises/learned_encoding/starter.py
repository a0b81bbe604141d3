"""Learned positional encoding: add a learned vector for its position to each token."""

import torch
from torch import nn


class LearnedPositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=512, dropout=0.1):
        super().__init__()
        # Create `position_embeddings` here, with one row per position, and initialise it.

    def forward(self, x):
        # x: (batch, time, d_model), with time at most max_len
        raise NotImplementedError("add the encodings here")
        # return (batch, time, d_model)
