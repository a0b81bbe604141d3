"""Multiplicative attention in its three forms: the decoder state is compared with each encoder output.

Notation: B batch, T source positions, encoder_dim and decoder_dim widths.
Source: Luong et al., Effective Approaches to Attention-based Neural Machine Translation (2015), section 3.1.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

METHODS = ("dot", "general", "concat")


def check(method: str) -> str:
    """Return `method`.

    Raises:
        ValueError: there is no such method.
    """
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}; it is {method!r}")
    return method


def multiply(keys: Tensor, query: Tensor) -> Tensor:
    """Return the dot product of each source position (B, T, d) with its sentence's state (B, d), (B, T)."""
    return (keys @ query.unsqueeze(-1)).squeeze(-1)


def project(keys: Tensor, layer: nn.Linear) -> Tensor:
    """Project the encoder outputs (B, T, encoder_dim) to the width of the state, (B, T, decoder_dim)."""
    projected: Tensor = layer(keys)
    return projected


def join(keys: Tensor, query: Tensor) -> Tensor:
    """Concatenate each source position with the state, encoder first, (B, T, encoder_dim + decoder_dim)."""
    return torch.cat((keys, query.unsqueeze(1).expand(-1, keys.shape[1], -1)), dim=-1)


def activate(features: Tensor) -> Tensor:
    """Apply tanh to the hidden layer of `concat`, (B, T, decoder_dim)."""
    return torch.tanh(features)


def rate(features: Tensor, v: Tensor) -> Tensor:
    """Return one score for each source position: its features (B, T, decoder_dim) times v (decoder_dim,), (B, T)."""
    return features @ v


def normalise(scores: Tensor) -> Tensor:
    """Turn each sentence's scores (B, T) into weights that add up to one."""
    return torch.softmax(scores, dim=-1)


def mix(weights: Tensor, values: Tensor) -> Tensor:
    """Return the weighted sum of the values (B, T, encoder_dim), (B, encoder_dim)."""
    return (weights.unsqueeze(1) @ values).squeeze(1)


def hand_over(context: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """Return the context and the weights, in the order of the contract."""
    return context, weights


class MultiplicativeAttention(nn.Module):
    """Attend from one decoder state to all encoder outputs.

    Args:
        encoder_dim, decoder_dim: widths of the encoder's outputs and of the decoder's state; `dot` needs them equal.
        method: `dot`, `general` or `concat`.

    Raises:
        ValueError: there is no such method.
    """

    def __init__(self, encoder_dim: int, decoder_dim: int, method: str = "general") -> None:
        super().__init__()
        self.method = check(method)
        if self.method == "general":
            self.W = nn.Linear(encoder_dim, decoder_dim, bias=False)
        if self.method == "concat":
            self.W = nn.Linear(encoder_dim + decoder_dim, decoder_dim, bias=False)
            self.v = nn.Parameter(torch.rand(decoder_dim))

    def forward(self, encoder_outputs: Tensor, decoder_hidden: Tensor) -> tuple[Tensor, Tensor]:
        """Map (B, T, encoder_dim) and (B, decoder_dim) to the context (B, encoder_dim) and the weights (B, T)."""
        weights = normalise(self.score(encoder_outputs, decoder_hidden))
        return hand_over(self.gather(weights, encoder_outputs), weights)

    def score(self, encoder_outputs: Tensor, decoder_hidden: Tensor) -> Tensor:
        """Return the scores by the chosen method, (B, T)."""
        if self.method == "dot":
            return self.dot(encoder_outputs, decoder_hidden)
        if self.method == "general":
            return self.general(encoder_outputs, decoder_hidden)
        return self.concat(encoder_outputs, decoder_hidden)

    def dot(self, encoder_outputs: Tensor, decoder_hidden: Tensor) -> Tensor:
        """Return the dot products of the two, (B, T)."""
        return multiply(encoder_outputs, decoder_hidden)

    def general(self, encoder_outputs: Tensor, decoder_hidden: Tensor) -> Tensor:
        """Return the products of the two with W in between, (B, T)."""
        return multiply(project(encoder_outputs, self.W), decoder_hidden)

    def concat(self, encoder_outputs: Tensor, decoder_hidden: Tensor) -> Tensor:
        """Return the scores of a hidden layer over both, (B, T)."""
        return rate(activate(self.W(join(encoder_outputs, decoder_hidden))), self.v)

    def gather(self, weights: Tensor, encoder_outputs: Tensor) -> Tensor:
        """Return the weighted sum of the encoder outputs, (B, encoder_dim)."""
        return mix(weights, encoder_outputs)
