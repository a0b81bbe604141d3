"""Three kinds of attention in one file: scaled dot-product, additive and multiplicative.

Notation: B batch, T source positions, T_q queries, T_k keys, a the width of the additive one's hidden layer.
Sources: Vaswani et al. (2017), section 3.2.1; Bahdanau et al. (2015), appendix A.1.2; Luong et al. (2015), section 3.1.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

METHODS = ("dot", "general", "concat")


def scores_of(queries: Tensor, keys: Tensor) -> Tensor:
    """Return every query's dot product with every key, (..., T_q, T_k)."""
    return queries @ keys.transpose(-2, -1)


def scale(scores: Tensor, d_k: int) -> Tensor:
    """Divide the scores by √d_k, so that their variance does not grow with the width."""
    return scores / math.sqrt(d_k)


def apply_mask(scores: Tensor, mask: Tensor | None) -> Tensor:
    """Set the scores to -inf where `mask` is False."""
    return scores if mask is None else scores.masked_fill(~mask, float("-inf"))


def normalise(scores: Tensor) -> Tensor:
    """Turn each query's scores into weights over the keys that add up to one."""
    return torch.softmax(scores, dim=-1)


def mix(weights: Tensor, values: Tensor) -> Tensor:
    """Return the weighted sums of the values, (..., T_q, d_v)."""
    return weights @ values


def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Attend from each query (..., T_q, d_k) to all keys (..., T_k, d_k) that the mask allows.

    Returns:
        The output (..., T_q, d_v), and the weights (..., T_q, T_k).
    """
    scores = scale(scores_of(query, key), key.shape[-1])
    weights = normalise(apply_mask(scores, mask))
    return mix(weights, value), weights


def share_out(scores: Tensor) -> Tensor:
    """Normalise each sentence's scores (B, T) to weights that add up to one."""
    return torch.softmax(scores, dim=-1)


def gathered(weights: Tensor, encoder_outputs: Tensor) -> Tensor:
    """Return the weighted sum of the encoder's outputs (B, T, encoder_dim), (B, encoder_dim)."""
    return (weights.unsqueeze(1) @ encoder_outputs).squeeze(1)


def hand_over(context: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """Return what both modules return, in its order."""
    return context, weights


def combine(keys: Tensor, state: Tensor) -> Tensor:
    """Add the projected state (B, a) to each projected source position (B, T, a)."""
    return keys + state.unsqueeze(1)


def activate(features: Tensor) -> Tensor:
    """Apply tanh to the hidden layer, (B, T, a)."""
    return torch.tanh(features)


def rate(features: Tensor, v: Tensor) -> Tensor:
    """Return one score for each source position: its features (B, T, a) times v (a,), (B, T)."""
    return features @ v


class AdditiveAttention(nn.Module):
    """Score each output of an encoder for one state of a decoder, with a small network.

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
        features = activate(combine(self.W1(encoder_outputs), self.W2(decoder_hidden)))
        weights = share_out(rate(features, self.v))
        return hand_over(gathered(weights, encoder_outputs), weights)


def check(method: str) -> str:
    """Return `method` if there is one of that name.

    Raises:
        ValueError: there is no such method.
    """
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}; it is {method!r}")
    return method


def multiply(keys: Tensor, state: Tensor) -> Tensor:
    """Return the dot product of each source position (B, T, d) with its sentence's state (B, d), (B, T)."""
    return (keys @ state.unsqueeze(-1)).squeeze(-1)


def project(keys: Tensor, layer: nn.Linear) -> Tensor:
    """Project the encoder's outputs to the width of the state, (B, T, decoder_dim)."""
    projected: Tensor = layer(keys)
    return projected


def join(keys: Tensor, state: Tensor) -> Tensor:
    """Concatenate each source position and the state, the encoder's output first, (B, T, encoder_dim + decoder_dim)."""
    return torch.cat((keys, state.unsqueeze(1).expand(-1, keys.shape[1], -1)), dim=-1)


class MultiplicativeAttention(nn.Module):
    """Compare one state of a decoder with each output of an encoder.

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
        weights = share_out(self.score(encoder_outputs, decoder_hidden))
        return hand_over(gathered(weights, encoder_outputs), weights)

    def score(self, encoder_outputs: Tensor, decoder_hidden: Tensor) -> Tensor:
        """Return the scores by the chosen method, (B, T)."""
        if self.method == "dot":
            return multiply(encoder_outputs, decoder_hidden)
        if self.method == "general":
            return multiply(project(encoder_outputs, self.W), decoder_hidden)
        return rate(torch.tanh(self.W(join(encoder_outputs, decoder_hidden))), self.v)
