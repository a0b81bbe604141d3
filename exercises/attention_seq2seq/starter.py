"""A translator with attention: a recurrent encoder with self-attention, a recurrent decoder with cross-attention."""

import torch
from torch import nn


class AttentionSeq2Seq(nn.Module):
    def __init__(self, src_vocab_size, tgt_vocab_size, d_model, num_heads, num_layers, dropout=0.1):
        super().__init__()
        # Create these parts, under these names:
        # src_embedding, tgt_embedding, encoder_lstm, encoder_attention, encoder_norm,
        # decoder_lstm, cross_attention, cross_norm, output_projection

    def forward(self, src, tgt, src_mask=None):
        # src: (batch, source), tgt: (batch, target), integers
        # src_mask: None or (batch, 1, 1, source), True where there is a word and False where there is padding
        raise NotImplementedError("write your translator here")
        # return logits (batch, target, tgt_vocab_size), attention (batch, num_heads, target, source)
