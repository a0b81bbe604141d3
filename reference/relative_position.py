"""Self-attention with a learned bias for each distance, clipped.

Notation: B batch, T time, h heads, d_model the width of everything, d_head = d_model / h, m the largest distance that
has a bias of its own.
Source: Shaw, Uszkoreit, Vaswani, Self-Attention with Relative Position Representations (2018), section 3.2, for clipped
distances; Raffel et al., Exploring the Limits of Transfer Learning (2020), section 2.1, for one number per distance and
head, added to the score.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


def split(x: Tensor, num_heads: int) -> Tensor:
    """Turn (B, T, d_model) into (B, h, T, d_head): consecutive features form a head."""
    batch, time, width = x.shape
    return x.view(batch, time, num_heads, width // num_heads).transpose(1, 2)


def merge(heads: Tensor) -> Tensor:
    """Turn (B, h, T, d_head) back into (B, T, d_model): the heads side by side."""
    return heads.transpose(1, 2).flatten(2)


def scores_of(queries: Tensor, keys: Tensor) -> Tensor:
    """Return every query's dot product with every key, head by head, (B, h, T, T)."""
    return queries @ keys.transpose(-2, -1)


def scale(scores: Tensor, d_k: int) -> Tensor:
    """Divide the scores by √d_k, so that their variance does not grow with the width of a head."""
    return scores / math.sqrt(d_k)


def distances(time: int) -> Tensor:
    """Return the distances j - i from query i to key j, (T, T)."""
    position = torch.arange(time)
    return position[None, :] - position[:, None]


def clip(far: Tensor, max_distance: int) -> Tensor:
    """Return the distances, clipped to the range from -m to m."""
    return far.clamp(-max_distance, max_distance)


def rows_of(far: Tensor, max_distance: int) -> Tensor:
    """Return the rows of the table for distances from -m to m: -m has row 0."""
    return far + max_distance


def look_up(table: nn.Embedding, rows: Tensor) -> Tensor:
    """Return a bias for each head at each of the rows (T, T), (T, T, h)."""
    return table(rows)


def heads_first(bias: Tensor) -> Tensor:
    """Turn (T, T, h) into (h, T, T), the order of axes in the scores."""
    return bias.permute(2, 0, 1)


def add(scores: Tensor, bias: Tensor) -> Tensor:
    """Add the bias (h, T, T) to the scores (B, h, T, T) of each sequence."""
    return scores + bias


def normalise(scores: Tensor) -> Tensor:
    """Turn each query's scores into weights that add up to one."""
    return torch.softmax(scores, dim=-1)


def mix(weights: Tensor, values: Tensor) -> Tensor:
    """Return the weighted sums of the values, (B, h, T, d_head)."""
    return weights @ values


def hand_back(output: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """Return what the caller gets: the output (B, T, d_model) and every head's weights (B, h, T, T)."""
    return output, weights


class RelativeSelfAttention(nn.Module):
    """Attend from every position to every position, with a bias for how far apart they are.

    Args:
        d_model: width of the input and of the output; the heads share it.
        num_heads: number of heads.
        max_distance: distances beyond this have the bias of this one.
    """

    def __init__(self, d_model: int, num_heads: int, max_distance: int) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.max_distance = max_distance
        self.W_query = nn.Linear(d_model, d_model)
        self.W_key = nn.Linear(d_model, d_model)
        self.W_value = nn.Linear(d_model, d_model)
        self.W_out = nn.Linear(d_model, d_model)
        self.relative_bias = nn.Embedding(2 * max_distance + 1, num_heads)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Map x (B, T, d_model) to the output (B, T, d_model) and the weights (B, h, T, T)."""
        queries, keys, values = (split(part, self.num_heads) for part in self.project(x))
        weights = self.weigh(queries, keys)
        return hand_back(self.leave(merge(mix(weights, values))), weights)

    def project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return queries, keys and values of all heads, each (B, T, d_model)."""
        return self.W_query(x), self.W_key(x), self.W_value(x)

    def bias(self, time: int) -> Tensor:
        """Return the biases of all pairs of `time` tokens, (h, T, T)."""
        rows = rows_of(clip(distances(time), self.max_distance), self.max_distance)
        return heads_first(look_up(self.relative_bias, rows.to(self.relative_bias.weight.device)))

    def weigh(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Return the attention weights of every head, (B, h, T, T)."""
        scores = scale(scores_of(queries, keys), keys.shape[-1])
        return normalise(add(scores, self.bias(keys.shape[-2])))

    def leave(self, context: Tensor) -> Tensor:
        """Combine the heads with the output projection, (B, T, d_model)."""
        return self.W_out(context)
