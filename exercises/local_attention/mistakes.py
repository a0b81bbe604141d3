"""What students get wrong in local attention.

Who fills hidden scores with too high a number usually has hidden scores of all keys, so these mistakes look at all of
them, a stretch of queries at a time.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from grader.exercise.families import gradients, scores, weights
from grader.exercise.mistakes import mistake

no_scaling = scores.no_scaling
scaled_by_half_the_width = scores.scaled_by_half_the_width
scaled_by_twice_the_width = scores.scaled_by_twice_the_width
scaled_by_the_rounded_root = scores.scaled_by_the_rounded_root
scaled_by_the_width_itself = scores.scaled_by_the_width_itself
multiplied_by_the_root = scores.multiplied_by_the_root
scaled_by_the_fourth_root = scores.scaled_by_the_fourth_root
scaled_by_the_number_of_heads = scores.scaled_by_the_number_of_heads
distances_for_products = scores.distances_for_products
overflowing_softmax = weights.overflowing_softmax
powers_of_two = weights.powers_of_two
every_head_the_first = weights.every_head_the_first
weights_averaged_over_heads = weights.weights_averaged_over_heads
first_sequence_for_all = weights.first_sequence_for_all
weights_cut_off = gradients.weights_cut_off
everything_cut_off = gradients.everything_cut_off
sum_cut_off = gradients.sum_cut_off


def _window(query: Tensor, key: Tensor, rows: slice, window: int) -> tuple[Tensor, Tensor]:
    """Return the scaled scores of a stretch with all keys (B, h, m, T), and where they are hidden (m, T)."""
    places = torch.arange(key.shape[-2])
    hidden = (places[rows, None] - places).abs() > window
    return query[..., rows, :] @ key.transpose(-2, -1) / math.sqrt(key.shape[-1]), hidden


def _around(query: Tensor, key: Tensor, value: Tensor, places: Tensor) -> Tensor:
    """Attend from each of some queries (B, h, m, d) to the keys at its `places` (m, k)."""
    products = (query.unsqueeze(-2) * key[..., places, :]).sum(-1) / math.sqrt(key.shape[-1])
    return (torch.softmax(products, dim=-1).unsqueeze(-1) * value[..., places, :]).sum(-2)


def _offsets(rows: slice, window: int) -> Tensor:
    """Return each query's places from a window before to a window behind, (m, 2 window + 1), past the ends too."""
    return torch.arange(rows.start, rows.stop)[:, None] + torch.arange(-window, window + 1)


@mistake(replaces="attend", dimension="numerics")
def scaled_by_the_window(query: Tensor, key: Tensor, value: Tensor, rows: slice, window: int) -> Tensor:
    """You divide the scores by the square root of the number of neighbours.

    The magnitude of a dot product grows with the number of features d, not with the number of keys. Check which size
    you take the square root of.
    """
    found, hidden = _window(query, key, rows, window)
    found = found * math.sqrt(key.shape[-1] / (2 * window + 1))
    return torch.softmax(found.masked_fill(hidden, float("-inf")), dim=-1) @ value


@mistake(replaces="attend", dimension="numerics")
def scaled_by_the_length(query: Tensor, key: Tensor, value: Tensor, rows: slice, window: int) -> Tensor:
    """You divide the scores by the square root of the sequence length.

    The magnitude of a dot product grows with the number of features d, not with the number of positions. Check which
    axis you take the size from.
    """
    found, hidden = _window(query, key, rows, window)
    found = found * math.sqrt(key.shape[-1] / key.shape[-2])
    return torch.softmax(found.masked_fill(hidden, float("-inf")), dim=-1) @ value


@mistake(replaces="attend", dimension="numerics")
def queries_meet_queries(query: Tensor, key: Tensor, value: Tensor, rows: slice, window: int) -> Tensor:
    """You compute scores between queries and queries.

    Your keys have no influence on the scores, and get no gradient. Check both factors of the product.
    """
    found, hidden = _window(query, query, rows, window)
    return torch.softmax(found.masked_fill(hidden, float("-inf")), dim=-1) @ value


@mistake(replaces="attend", dimension="numerics")
def keys_ask_queries(query: Tensor, key: Tensor, value: Tensor, rows: slice, window: int) -> Tensor:
    """You swap queries and keys.

    Row i must hold the scores of *query* i with the keys around it; yours holds the scores of key i with the queries
    around it. Check the order of the factors, and which of them you cut into windows.
    """
    found, hidden = _window(key, query, rows, window)
    return torch.softmax(found.masked_fill(hidden, float("-inf")), dim=-1) @ value


@mistake(replaces="attend", dimension="numerics")
def mixes_the_keys(query: Tensor, key: Tensor, value: Tensor, rows: slice, window: int) -> Tensor:
    """You sum the keys, not the values.

    Your weights are right, but you multiply them by the keys. The values have no influence, and get no gradient.
    """
    found, hidden = _window(query, key, rows, window)
    return torch.softmax(found.masked_fill(hidden, float("-inf")), dim=-1) @ key


@mistake(replaces="local_attention", dimension="numerics")
def softmax_over_queries(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    """Your softmax runs over the queries.

    The columns of your weights add up to one, and the rows do not. Each query distributes its weight over the keys
    around it: which axis holds them?
    """
    found, hidden = _window(query, key, slice(None), window)
    return torch.softmax(found.masked_fill(hidden, float("-inf")), dim=-2) @ value


@mistake(replaces="near", dimension="masking")
def window_too_narrow(rows: Tensor, columns: Tensor, window: int) -> Tensor:
    """Your window ends one position too early.

    A key exactly `window` positions away belongs to the window. Check your comparison, or the end of your slice, which
    Python excludes.
    """
    return (rows - columns).abs() < window


@mistake(replaces="attend", dimension="masking")
def window_too_wide(query: Tensor, key: Tensor, value: Tensor, rows: slice, window: int) -> Tensor:
    """Your window extends one position too far.

    A key `window + 1` positions away is outside the window. Check your comparison, or both ends of your slice.
    """
    found, hidden = _window(query, key, rows, window + 1)
    return torch.softmax(found.masked_fill(hidden, float("-inf")), dim=-1) @ value


@mistake(replaces="near", dimension="masking")
def one_too_few_behind(rows: Tensor, columns: Tensor, window: int) -> Tensor:
    """Your window ends one position too early on the right.

    It covers the keys from i - window to i + window, both included. The end of a Python slice is excluded.
    """
    return (columns >= rows - window) & (columns < rows + window)


@mistake(replaces="near", dimension="masking")
def half_the_window(rows: Tensor, columns: Tensor, window: int) -> Tensor:
    """You use `window` as the total width of the window.

    Your window has half of it on each side. Here `window` is the number of positions on *each* side.
    """
    return (rows - columns).abs() <= window // 2


@mistake(replaces="attend", dimension="masking")
def twice_the_window(query: Tensor, key: Tensor, value: Tensor, rows: slice, window: int) -> Tensor:
    """Your window is twice as wide as it should be.

    There are `window` positions on each side; yours has up to 2 window on each side. If you take blocks with their
    neighbouring blocks, you also need a mask within them.
    """
    found, hidden = _window(query, key, rows, 2 * window)
    return torch.softmax(found.masked_fill(hidden, float("-inf")), dim=-1) @ value


@mistake(replaces="near", dimension="masking")
def past_only(rows: Tensor, columns: Tensor, window: int) -> Tensor:
    """Your positions attend to the past only.

    Local attention is not causal: the window extends to both sides. Look for a missing absolute value, or for a
    triangular mask.
    """
    return (columns <= rows) & (rows - columns <= window)


@mistake(replaces="near", dimension="masking")
def future_only(rows: Tensor, columns: Tensor, window: int) -> Tensor:
    """Your positions attend to the future only.

    The window extends to both sides. Look for a missing absolute value, or for a triangular mask.
    """
    return (columns >= rows) & (columns - rows <= window)


@mistake(replaces="near", dimension="masking")
def does_not_see_itself(rows: Tensor, columns: Tensor, window: int) -> Tensor:
    """Your positions attend to their neighbours, but not to themselves.

    The distance of a position to itself is zero, so it is in every window.
    """
    return ((rows - columns).abs() <= window) & ((rows != columns) | (rows + columns == 0))


@mistake(replaces="attend", dimension="masking")
def bounded_on_one_side(query: Tensor, key: Tensor, value: Tensor, rows: slice, window: int) -> Tensor:
    """Your window is bounded on one side only.

    You mask keys that are too far away on one side, and none on the other. A very negative difference also satisfies
    `difference <= window`: use its absolute value.
    """
    found, _ = _window(query, key, rows, window)
    places = torch.arange(key.shape[-2])
    return torch.softmax(found.masked_fill(places[rows, None] - places > window, float("-inf")), dim=-1) @ value


@mistake(replaces="attend", dimension="masking")
def no_window(query: Tensor, key: Tensor, value: Tensor, rows: slice, window: int) -> Tensor:
    """Every position attends to every other: the window has no effect.

    If you have a mask, its result may be discarded: `masked_fill` returns a new tensor and does not change the old one.
    """
    found, _ = _window(query, key, rows, window)
    return torch.softmax(found, dim=-1) @ value


@mistake(replaces="attend", dimension="masking")
def mask_inverted(query: Tensor, key: Tensor, value: Tensor, rows: slice, window: int) -> Tensor:
    """You mask the neighbours and keep everything else.

    `masked_fill` fills the positions where its mask is True. Compare that with what True means in your mask.
    """
    found, hidden = _window(query, key, rows, window)
    return torch.softmax(found.masked_fill(~hidden, float("-inf")), dim=-1) @ value


@mistake(replaces="attend", dimension="masking")
def padding_counts(query: Tensor, key: Tensor, value: Tensor, rows: slice, window: int) -> Tensor:
    """Your zero padding takes part in the attention.

    A key of zeros has score 0, whose exponential is 1. So at both ends of the sequence the padding takes weight from
    the real keys. Mask the padding.
    """
    length = key.shape[-2]
    key, value = (torch.nn.functional.pad(x, (0, 0, 1, 1)) for x in (key, value))
    places = (_offsets(rows, window) + 1).clamp(0, length + 1)
    return _around(query[..., rows, :], key, value, places)


@mistake(replaces="attend", dimension="masking")
def ends_are_neighbours(query: Tensor, key: Tensor, value: Tensor, rows: slice, window: int) -> Tensor:
    """Your window wraps around the ends of the sequence.

    The first position has no neighbours on its left. Negative indices count from the end, and `roll` and circular
    padding wrap around, all without an error.
    """
    return _around(query[..., rows, :], key, value, _offsets(rows, window) % key.shape[-2])


@mistake(replaces="attend", dimension="numerics")
def ends_count_again(query: Tensor, key: Tensor, value: Tensor, rows: slice, window: int) -> Tensor:
    """At the ends of the sequence you use the outermost key several times.

    You replace missing neighbours with the first or last position, for example by a clamped index or replication
    padding. Each copy then gets weight. Leave missing neighbours out.
    """
    return _around(query[..., rows, :], key, value, _offsets(rows, window).clamp(0, key.shape[-2] - 1))


@mistake(replaces="attend", dimension="masking")
def window_moved_inwards(query: Tensor, key: Tensor, value: Tensor, rows: slice, window: int) -> Tensor:
    """At the ends of the sequence you shift the window inwards to keep it full.

    The first position attends to itself and the next `window` keys only. Near the ends there are fewer keys.
    """
    length = key.shape[-2]
    width = min(2 * window + 1, length)
    first = (torch.arange(rows.start, rows.stop) - window).clamp(0, length - width)
    return _around(query[..., rows, :], key, value, first[:, None] + torch.arange(width))


@mistake(replaces="attend", dimension="masking")
def blocks_for_windows(query: Tensor, key: Tensor, value: Tensor, rows: slice, window: int) -> Tensor:
    """You cut the sequence into blocks, and each block attends to itself only.

    The window moves with the query, so neighbours on both sides of a block boundary must also attend to each other.
    """
    found, _ = _window(query, key, rows, window)
    block = torch.arange(key.shape[-2]) // (2 * window + 1)
    return torch.softmax(found.masked_fill(block[rows, None] != block, float("-inf")), dim=-1) @ value


@mistake(replaces="attend", dimension="masking")
def hidden_scores_are_zero(query: Tensor, key: Tensor, value: Tensor, rows: slice, window: int) -> Tensor:
    """You set masked scores to zero.

    A score of 0 is an ordinary score: its exponential is 1, so the key gets weight. Multiplying the scores by a mask of
    zeros and ones has the same effect. Which score gives weight zero?
    """
    found, hidden = _window(query, key, rows, window)
    return torch.softmax(found.masked_fill(hidden, 0.0), dim=-1) @ value


@mistake(replaces="attend", dimension="masking")
def hidden_scores_are_minus_ten(query: Tensor, key: Tensor, value: Tensor, rows: slice, window: int) -> Tensor:
    """The fill value for your masked scores is not low enough.

    With -10, a masked key keeps a small weight, and a large one if the other scores are low too. Use -inf, which gives
    weight zero in every case.
    """
    found, hidden = _window(query, key, rows, window)
    return torch.softmax(found.masked_fill(hidden, -10.0), dim=-1) @ value


@mistake(replaces="attend", dimension="masking")
def hidden_scores_are_minus_ten_thousand(query: Tensor, key: Tensor, value: Tensor, rows: slice, window: int) -> Tensor:
    """Your fill value is not lower than every possible score.

    A number such as -100 or -10,000 works only while the visible scores are moderate. If all of them are lower than
    your fill value, the masked keys have the largest scores and take all the weight. Which number is below every score?
    """
    found, hidden = _window(query, key, rows, window)
    return torch.softmax(found.masked_fill(hidden, -1e4), dim=-1) @ value


@mistake(replaces="attend", dimension="masking")
def masks_after_the_softmax(query: Tensor, key: Tensor, value: Tensor, rows: slice, window: int) -> Tensor:
    """You mask the weights after the softmax, so they do not add up to one.

    The masked keys are still part of the softmax denominator. Either mask the scores before the softmax, or divide each
    row by its new sum.
    """
    found, hidden = _window(query, key, rows, window)
    return torch.softmax(found, dim=-1).masked_fill(hidden, 0.0) @ value


@mistake(replaces="local_attention", dimension="memory")
def holds_all_scores(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    """You create a T x T tensor, of scores or of a mask.

    Your output is right, but nearly all of that tensor is masked. With window w, each query has at most 2w + 1 keys, so
    no tensor needs to grow with the square of the length.
    """
    found, hidden = _window(query, key, slice(None), window)
    return torch.softmax(found.masked_fill(hidden, float("-inf")), dim=-1) @ value


@mistake(replaces="attend", dimension="masking")
def slices_begin_below_zero(query: Tensor, key: Tensor, value: Tensor, rows: slice, window: int) -> Tensor:
    """Your slices start at a negative index near the start of the sequence.

    In `key[i - window : i + window + 1]` a negative start counts from the end, so the first positions get an empty
    slice or the wrong keys. Use `max(0, i - window)`.
    """
    places = torch.arange(key.shape[-2])
    seen = torch.zeros(rows.stop - rows.start, key.shape[-2], dtype=torch.bool)
    for row in range(rows.start, rows.stop):
        seen[row - rows.start, places[row - window : row + window + 1]] = True
    scores = query[..., rows, :] @ key.transpose(-2, -1) / math.sqrt(key.shape[-1])
    shares = torch.softmax(scores.masked_fill(~seen, float("-inf")), dim=-1)
    return torch.where(seen, shares, torch.zeros_like(shares)) @ value
