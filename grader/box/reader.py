"""A small trained model that attends by itself, so that a submission can look into it.

Only the jobs of exercises that look into it bring it into the sandbox: to others its attention would be an answer.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


class ReaderAttention(nn.Module):
    """Self-attention of a `Reader`; it shows its weights beside its output."""

    def __init__(self, width: int, num_heads: int) -> None:
        """Hold the projections of `num_heads` heads."""
        super().__init__()
        self.num_heads = num_heads
        self.W_query, self.W_key, self.W_value, self.W_out = (nn.Linear(width, width) for _ in range(4))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return the output (B, T, width) and the weights (B, h, T, T) of `x`, (B, T, width)."""
        query, key, value = (self.split(project(x)) for project in (self.W_query, self.W_key, self.W_value))
        weights = torch.softmax(query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5, dim=-1)
        return self.W_out((weights @ value).transpose(1, 2).flatten(-2)), weights

    def split(self, x: Tensor) -> Tensor:
        """Return (B, T, width) as heads, (B, h, T, width / h)."""
        return x.view(*x.shape[:-1], self.num_heads, -1).transpose(1, 2)


class ReaderLayer(nn.Module):
    """One layer of a `Reader`: its `attention`, then two linear layers, each with a residual connection and a norm."""

    def __init__(self, width: int, num_heads: int) -> None:
        """Hold the parts."""
        super().__init__()
        self.attention = ReaderAttention(width, num_heads)
        self.attention_norm, self.norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.inner, self.outer = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        """Return (B, T, width)."""
        x = self.attention_norm(x + self.attention(x)[0])
        out: Tensor = self.norm(x + self.outer(torch.relu(self.inner(x))))
        return out


class Reader(nn.Module):
    """A small encoder that is there to be looked into: `layers[i].attention` returns (output, weights)."""

    def __init__(self, *, vocab_size: int, width: int, num_heads: int, num_layers: int, time: int) -> None:
        """Build it for sequences of up to `time` tokens."""
        super().__init__()
        self.embedding, self.position = nn.Embedding(vocab_size, width), nn.Embedding(time, width)
        self.layers = nn.ModuleList(ReaderLayer(width, num_heads) for _ in range(num_layers))
        self.output = nn.Linear(width, vocab_size)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return a logit for every word at every position of `tokens`, (B, T): (B, T, vocab_size)."""
        x = self.embedding(tokens) + self.position.weight[: tokens.shape[1]]
        for layer in self.layers:
            x = layer(x)
        logits: Tensor = self.output(x)
        return logits
