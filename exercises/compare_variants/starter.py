"""Three kinds of attention, for one translator."""

import torch
from torch import nn


def scaled_dot_product_attention(query, key, value, mask=None):
    # query: (..., T_q, d_k)    key: (..., T_k, d_k)    value: (..., T_k, d_v)
    raise NotImplementedError("write scaled dot-product attention here")
    # return output (..., T_q, d_v), weights (..., T_q, T_k)


class AdditiveAttention(nn.Module):
    def __init__(self, encoder_dim, decoder_dim, attention_dim):
        super().__init__()
        # W1: encoder_dim -> attention_dim    W2: decoder_dim -> attention_dim    v: attention_dim -> 1, no biases

    def forward(self, encoder_outputs, decoder_hidden):
        # encoder_outputs: (B, T, encoder_dim)    decoder_hidden: (B, decoder_dim)
        raise NotImplementedError("write Bahdanau's attention here")
        # return context (B, encoder_dim), weights (B, T)


class MultiplicativeAttention(nn.Module):
    def __init__(self, encoder_dim, decoder_dim, method="general"):
        super().__init__()
        # dot: nothing    general: W    concat: W, v    all without biases

    def forward(self, encoder_outputs, decoder_hidden):
        # encoder_outputs: (B, T, encoder_dim)    decoder_hidden: (B, decoder_dim)
        raise NotImplementedError("write Luong's attention here")
        # return context (B, encoder_dim), weights (B, T)
