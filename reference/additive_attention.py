"""Additive attention: a network with one hidden layer scores each source position for the decoder's state.

Notation: B batch, T source positions, a the width of the hidden layer (`attention_dim`).
Source: Bahdanau et al., Neural Machine Translation by Jointly Learning to Align and Translate (2015), appendix A.1.2.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


def combine(keys: Tensor, query: Tensor) -> Tensor:
    """Add the projected state (B, a) to each projected source position (B, T, a)."""
    return keys + query.unsqueeze(1)


def activate(features: Tensor) -> Tensor:
    """Apply tanh to the sums, (B, T, a)."""
    return torch.tanh(features)


def rate(features: Tensor, v: Tensor) -> Tensor:
    """Return one score for each source position: its features (B, T, a) times v (a,), (B, T)."""
    return features @ v


def normalise(scores: Tensor) -> Tensor:
    """Normalise each sentence's scores (B, T) to weights that add up to one."""
    return torch.softmax(scores, dim=-1)


def mix(weights: Tensor, values: Tensor) -> Tensor:
    """Return the weighted sum of the values (B, T, encoder_dim), (B, encoder_dim)."""
    return (weights.unsqueeze(1) @ values).squeeze(1)


def hand_over(context: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """Return what the module returns, in its order."""
    return context, weights


class AdditiveAttention(nn.Module):
    """Attend from one state of a decoder to all outputs of an encoder.

    Args:
        encoder_dim, decoder_dim: widths of the encoder's outputs and of the decoder's state.
        attention_dim: width of the hidden layer, to which both are projected.
    """

    def __init__(self, encoder_dim: int, decoder_dim: int, attention_dim: int) -> None:
        super().__init__()
        self.W1 = nn.Linear(encoder_dim, attention_dim, bias=False)
        self.W2 = nn.Linear(decoder_dim, attention_dim, bias=False)
        self.v = nn.Parameter(torch.rand(attention_dim))

    def forward(self, encoder_outputs: Tensor, decoder_hidden: Tensor) -> tuple[Tensor, Tensor]:
        """Map (B, T, encoder_dim) and (B, decoder_dim) to the context (B, encoder_dim) and the weights (B, T)."""
        keys, query = self.project(encoder_outputs, decoder_hidden)
        weights = normalise(rate(activate(combine(keys, query)), self.v))
        return hand_over(self.gather(weights, encoder_outputs), weights)

    def project(self, encoder_outputs: Tensor, decoder_hidden: Tensor) -> tuple[Tensor, Tensor]:
        """Return the projected source positions (B, T, a) and the projected state (B, a)."""
        return self.W1(encoder_outputs), self.W2(decoder_hidden)

    def gather(self, weights: Tensor, encoder_outputs: Tensor) -> Tensor:
        """Return the weighted sum of the encoder's own outputs, (B, encoder_dim)."""
        return mix(weights, encoder_outputs)
