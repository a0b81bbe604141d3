"""Multiplicative attention: compare the decoder state with each encoder output, in one of three ways."""

import torch
from torch import nn


class MultiplicativeAttention(nn.Module):
    def __init__(self, encoder_dim, decoder_dim, method="general"):
        super().__init__()
        # method: "dot", "general" or "concat"
        # Create W, and for "concat" also v, here.

    def forward(self, encoder_outputs, decoder_hidden):
        # encoder_outputs: (batch, time, encoder_dim)    decoder_hidden: (batch, decoder_dim)
        raise NotImplementedError("write your attention here")
        # return context (batch, encoder_dim), weights (batch, time)
