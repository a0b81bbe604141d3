"""Additive attention: a small network scores each source position for the decoder's state."""

import torch
from torch import nn


class AdditiveAttention(nn.Module):
    def __init__(self, encoder_dim, decoder_dim, attention_dim):
        super().__init__()
        # Create W1, W2 and v here.

    def forward(self, encoder_outputs, decoder_hidden):
        # encoder_outputs: (batch, time, encoder_dim)    decoder_hidden: (batch, decoder_dim)
        raise NotImplementedError("write your attention here")
        # return context (batch, encoder_dim), weights (batch, time)
