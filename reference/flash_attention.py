"""Flash attention: exact attention, tile by tile, that never stores the whole matrix of scores.

Notation: B batch, h heads, T time, d width, m rows of a tile, n columns of a tile.
Source: Dao et al., FlashAttention (2022), section 3.1 and algorithm 1; the online softmax is that of Milakov and
Gimelshein, Online normalizer calculation for softmax (2018), algorithm 3.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

State = tuple[Tensor, Tensor, Tensor]  # maxima (B, h, m), sums of exponentials (B, h, m), sums of values (B, h, m, d)


def column_tiles(length: int, block_size: int) -> list[slice]:
    """Return the tiles' slices of the keys; the last may be shorter than the block size."""
    return [slice(start, min(start + block_size, length)) for start in range(0, length, block_size)]


def scores_of(queries: Tensor, keys: Tensor) -> Tensor:
    """Return every query's dot product with every key of a tile, (B, h, m, n)."""
    return queries @ keys.transpose(-2, -1)


def scale(scores: Tensor, d_k: int) -> Tensor:
    """Divide the scores by √d_k, so that their variance does not grow with the width."""
    return scores / math.sqrt(d_k)


def visible(rows: Tensor, columns: Tensor) -> Tensor:
    """Return which keys a causal query may see, (m, n) booleans, from positions (m, 1) and (1, n)."""
    return columns <= rows


def hide_future(scores: Tensor, rows: slice, columns: slice) -> Tensor:
    """Set the scores of keys that come after their query to -inf; the slices say where the tile lies."""
    row = torch.arange(rows.start, rows.stop, device=scores.device)[:, None]
    column = torch.arange(columns.start, columns.stop, device=scores.device)[None, :]
    return fill(scores, ~visible(row, column))


def fill(scores: Tensor, hidden: Tensor) -> Tensor:
    """Set hidden scores to -inf, whose exponential is zero whatever the other scores are."""
    return scores.masked_fill(hidden, float("-inf"))


def start(queries: Tensor, values: Tensor) -> State:
    """Return the state before the first tile: a maximum of -inf, and sums of zero."""
    peak = queries.new_full(queries.shape[:-1], float("-inf"))
    return peak, torch.zeros_like(peak), queries.new_zeros(*queries.shape[:-1], values.shape[-1])


def raise_peak(peak: Tensor, scores: Tensor) -> Tensor:
    """Return each row's largest score so far, (B, h, m)."""
    return torch.maximum(peak, scores.amax(dim=-1))


def shrink(before: Tensor, after: Tensor) -> Tensor:
    """Return the factor that rescales sums from the maximum `before` to the maximum `after`, (B, h, m)."""
    return torch.exp(before - after)


def powers_of(scores: Tensor, peak: Tensor) -> Tensor:
    """Return the exponentials of the scores minus the maximum, at most 1, (B, h, m, n)."""
    return torch.exp(scores - peak.unsqueeze(-1))


def add_up(total: Tensor, factor: Tensor, powers: Tensor) -> Tensor:
    """Return the rescaled sum of exponentials plus this tile's, (B, h, m)."""
    return total * factor + powers.sum(dim=-1)


def stir(mixed: Tensor, factor: Tensor, powers: Tensor, values: Tensor) -> Tensor:
    """Return the rescaled sum of the values, weighted by their exponentials, plus this tile's, (B, h, m, d)."""
    return mixed * factor.unsqueeze(-1) + powers @ values


def absorb(state: State, scores: Tensor, values: Tensor) -> State:
    """Return the state after one more tile of scores (B, h, m, n) and values (B, h, n, d)."""
    before, total, mixed = state
    peak = raise_peak(before, scores)
    factor, powers = shrink(before, peak), powers_of(scores, peak)
    return peak, add_up(total, factor, powers), stir(mixed, factor, powers, values)


def divide(mixed: Tensor, total: Tensor) -> Tensor:
    """Return the weighted means of the values, (B, h, m, d)."""
    return mixed / total.unsqueeze(-1)


def log_of_sum(peak: Tensor, total: Tensor) -> Tensor:
    """Return the logarithm of the sum of the exponentials of the scores themselves, (B, h, m)."""
    return peak + torch.log(total)


def attend(queries: Tensor, key: Tensor, value: Tensor, *, rows: slice, block_size: int, causal: bool) -> State:
    """Return the state of a tile of queries (B, h, m, d) after all tiles of keys.

    Tiles that lie wholly in the future change nothing; a faster answer skips them.
    """
    state = start(queries, value)
    for columns in column_tiles(key.shape[-2], block_size):
        scores = scale(scores_of(queries, key[..., columns, :]), key.shape[-1])
        if causal:
            scores = hide_future(scores, rows, columns)
        state = absorb(state, scores, value[..., columns, :])
    return state


def flash_attention(
    query: Tensor, key: Tensor, value: Tensor, block_size: int = 64, causal: bool = False
) -> tuple[Tensor, Tensor]:
    """Attend tile by tile.

    Args:
        query, key, value: (B, h, T, d).
        block_size: rows and columns of a tile, at least 1; the result does not depend on it.
        causal: whether a position sees itself and what comes before it only.

    Returns:
        The output (B, h, T, d), and the natural logarithm of each row's sum of exponentials (B, h, T).
    """
    outputs, logarithms, first = [], [], 0
    for queries in query.split(block_size, dim=-2):
        rows = slice(first, first + queries.shape[-2])
        peak, total, mixed = attend(queries, key, value, rows=rows, block_size=block_size, causal=causal)
        first = rows.stop
        outputs.append(divide(mixed, total))
        logarithms.append(log_of_sum(peak, total))
    return torch.cat(outputs, dim=-2), torch.cat(logarithms, dim=-1)
