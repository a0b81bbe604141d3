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
    """You divide the scores by the root of the number of neighbours.

    What grows a dot product is the number of features that it adds up, not how many keys there are. Look at the size
    that you take the root of.
    """
    found, hidden = _window(query, key, rows, window)
    found = found * math.sqrt(key.shape[-1] / (2 * window + 1))
    return torch.softmax(found.masked_fill(hidden, float("-inf")), dim=-1) @ value


@mistake(replaces="attend", dimension="numerics")
def scaled_by_the_length(query: Tensor, key: Tensor, value: Tensor, rows: slice, window: int) -> Tensor:
    """You divide the scores by the root of the sequence's length.

    What grows a dot product is the number of features that it adds up, not the number of positions. Look at the axis
    whose size you take the root of.
    """
    found, hidden = _window(query, key, rows, window)
    found = found * math.sqrt(key.shape[-1] / key.shape[-2])
    return torch.softmax(found.masked_fill(hidden, float("-inf")), dim=-1) @ value


@mistake(replaces="attend", dimension="numerics")
def queries_meet_queries(query: Tensor, key: Tensor, value: Tensor, rows: slice, window: int) -> Tensor:
    """You score queries against queries.

    Your keys have no say in the scores, and get no gradient. Look at both sides of the product.
    """
    found, hidden = _window(query, query, rows, window)
    return torch.softmax(found.masked_fill(hidden, float("-inf")), dim=-1) @ value


@mistake(replaces="attend", dimension="numerics")
def keys_ask_queries(query: Tensor, key: Tensor, value: Tensor, rows: slice, window: int) -> Tensor:
    """Queries and keys have changed places.

    Row i has to be what *query* i thinks of the keys around it; yours is what key i thinks of the queries around it.
    Look at the order of the factors, and at which of them you cut into windows.
    """
    found, hidden = _window(key, query, rows, window)
    return torch.softmax(found.masked_fill(hidden, float("-inf")), dim=-1) @ value


@mistake(replaces="attend", dimension="numerics")
def mixes_the_keys(query: Tensor, key: Tensor, value: Tensor, rows: slice, window: int) -> Tensor:
    """You mix the keys, not the values.

    Your weights are right, and what they weigh is not: the values never come in, and get no gradient.
    """
    found, hidden = _window(query, key, rows, window)
    return torch.softmax(found.masked_fill(hidden, float("-inf")), dim=-1) @ key


@mistake(replaces="local_attention", dimension="numerics")
def softmax_over_queries(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    """Your softmax runs over the queries.

    The columns of your weights add up to one, and the rows do not. Each query shares *its* attention out over the keys
    around it: along which axis do they lie?
    """
    found, hidden = _window(query, key, slice(None), window)
    return torch.softmax(found.masked_fill(hidden, float("-inf")), dim=-2) @ value


@mistake(replaces="near", dimension="masking")
def window_too_narrow(rows: Tensor, columns: Tensor, window: int) -> Tensor:
    """Your window ends one position too early.

    A key that is exactly `window` positions away may still be seen. Check your comparison, or the end of your slice,
    which Python leaves out.
    """
    return (rows - columns).abs() < window


@mistake(replaces="attend", dimension="masking")
def window_too_wide(query: Tensor, key: Tensor, value: Tensor, rows: slice, window: int) -> Tensor:
    """Your window reaches one position too far.

    A key that is `window + 1` positions away is out of sight. Check your comparison, or both ends of your slice.
    """
    found, hidden = _window(query, key, rows, window + 1)
    return torch.softmax(found.masked_fill(hidden, float("-inf")), dim=-1) @ value


@mistake(replaces="near", dimension="masking")
def one_too_few_behind(rows: Tensor, columns: Tensor, window: int) -> Tensor:
    """Your window is lopsided: it ends one position too early on the right.

    The keys from i - window to i + window may be seen, both ends included. A slice leaves out its end.
    """
    return (columns >= rows - window) & (columns < rows + window)


@mistake(replaces="near", dimension="masking")
def half_the_window(rows: Tensor, columns: Tensor, window: int) -> Tensor:
    """You take `window` for the whole width of the window.

    Yours spreads half of it to each side. Here it counts the positions on *each* side.
    """
    return (rows - columns).abs() <= window // 2


@mistake(replaces="attend", dimension="masking")
def twice_the_window(query: Tensor, key: Tensor, value: Tensor, rows: slice, window: int) -> Tensor:
    """Your window is twice as wide as it should be.

    `window` positions are to be seen on each side; you reach 2 window on each. If you take blocks with their
    neighbours, a mask within the blocks is missing.
    """
    found, hidden = _window(query, key, rows, 2 * window)
    return torch.softmax(found.masked_fill(hidden, float("-inf")), dim=-1) @ value


@mistake(replaces="near", dimension="masking")
def past_only(rows: Tensor, columns: Tensor, window: int) -> Tensor:
    """Your positions see what is before them, not what comes after.

    Local attention is not causal: the window lies on both sides. Look for an absolute value that is missing, or for a
    triangle.
    """
    return (columns <= rows) & (rows - columns <= window)


@mistake(replaces="near", dimension="masking")
def future_only(rows: Tensor, columns: Tensor, window: int) -> Tensor:
    """Your positions see what comes after them, not what is before.

    The window lies on both sides. Look for an absolute value that is missing, or for a triangle.
    """
    return (columns >= rows) & (columns - rows <= window)


@mistake(replaces="near", dimension="masking")
def does_not_see_itself(rows: Tensor, columns: Tensor, window: int) -> Tensor:
    """Your positions see their neighbours, but not themselves.

    The distance of a position to itself is zero, and that is within every window.
    """
    return ((rows - columns).abs() <= window) & ((rows != columns) | (rows + columns == 0))


@mistake(replaces="attend", dimension="masking")
def bounded_on_one_side(query: Tensor, key: Tensor, value: Tensor, rows: slice, window: int) -> Tensor:
    """Your window has one end only.

    You hide what lies too far on one side, and everything on the other side is seen. A difference is small when it is
    very negative, too.
    """
    found, _ = _window(query, key, rows, window)
    places = torch.arange(key.shape[-2])
    return torch.softmax(found.masked_fill(places[rows, None] - places > window, float("-inf")), dim=-1) @ value


@mistake(replaces="attend", dimension="masking")
def no_window(query: Tensor, key: Tensor, value: Tensor, rows: slice, window: int) -> Tensor:
    """Every position sees every other: the window has no effect.

    If you have a mask, its result may be thrown away: `masked_fill` returns a new tensor, and leaves the old one.
    """
    found, _ = _window(query, key, rows, window)
    return torch.softmax(found, dim=-1) @ value


@mistake(replaces="attend", dimension="masking")
def mask_inverted(query: Tensor, key: Tensor, value: Tensor, rows: slice, window: int) -> Tensor:
    """You hide the neighbours and see everything else.

    `masked_fill` fills where its mask is True. Compare that with what True means in your mask.
    """
    found, hidden = _window(query, key, rows, window)
    return torch.softmax(found.masked_fill(~hidden, float("-inf")), dim=-1) @ value


@mistake(replaces="attend", dimension="masking")
def padding_counts(query: Tensor, key: Tensor, value: Tensor, rows: slice, window: int) -> Tensor:
    """The zeros that you pad with take part in the attention.

    A key of zeros has score 0, whose exponential is 1, so at both ends of the sequence the made-up neighbours take
    weight from the real ones. Fewer neighbours is fine; those that do not exist must get no weight.
    """
    length = key.shape[-2]
    key, value = (torch.nn.functional.pad(x, (0, 0, 1, 1)) for x in (key, value))
    places = (_offsets(rows, window) + 1).clamp(0, length + 1)
    return _around(query[..., rows, :], key, value, places)


@mistake(replaces="attend", dimension="masking")
def ends_are_neighbours(query: Tensor, key: Tensor, value: Tensor, rows: slice, window: int) -> Tensor:
    """Your sequence is a ring: its ends see each other.

    The first position has no neighbours on its left. Negative indices count from the end in Python, and `roll` and
    circular padding wrap round; none of them raises.
    """
    return _around(query[..., rows, :], key, value, _offsets(rows, window) % key.shape[-2])


@mistake(replaces="attend", dimension="numerics")
def ends_count_again(query: Tensor, key: Tensor, value: Tensor, rows: slice, window: int) -> Tensor:
    """At the ends of the sequence you count the outermost key several times.

    Where a neighbour does not exist, yours is replaced by the first or last position: a clamped index, or replicated
    padding. It takes part as often as it was repeated.
    """
    return _around(query[..., rows, :], key, value, _offsets(rows, window).clamp(0, key.shape[-2] - 1))


@mistake(replaces="attend", dimension="masking")
def window_moved_inwards(query: Tensor, key: Tensor, value: Tensor, rows: slice, window: int) -> Tensor:
    """At the ends of the sequence your window moves inwards to stay full.

    The first position sees itself and `window` keys after it, no more. Yours sees as many keys as one in the middle.
    """
    length = key.shape[-2]
    width = min(2 * window + 1, length)
    first = (torch.arange(rows.start, rows.stop) - window).clamp(0, length - width)
    return _around(query[..., rows, :], key, value, first[:, None] + torch.arange(width))


@mistake(replaces="attend", dimension="masking")
def blocks_for_windows(query: Tensor, key: Tensor, value: Tensor, rows: slice, window: int) -> Tensor:
    """You cut the sequence into blocks, and each block sees itself only.

    A window moves with the query: two neighbours on both sides of a cut see each other as well as any others.
    """
    found, _ = _window(query, key, rows, window)
    block = torch.arange(key.shape[-2]) // (2 * window + 1)
    return torch.softmax(found.masked_fill(block[rows, None] != block, float("-inf")), dim=-1) @ value


@mistake(replaces="attend", dimension="masking")
def hidden_scores_are_zero(query: Tensor, key: Tensor, value: Tensor, rows: slice, window: int) -> Tensor:
    """You set hidden scores to zero.

    A score of 0 is an ordinary score: its exponential is 1, and the key gets weight. Multiplying the scores by a mask
    of zeros and ones comes to the same. Which score gets no weight at all?
    """
    found, hidden = _window(query, key, rows, window)
    return torch.softmax(found.masked_fill(hidden, 0.0), dim=-1) @ value


@mistake(replaces="attend", dimension="masking")
def hidden_scores_are_minus_ten(query: Tensor, key: Tensor, value: Tensor, rows: slice, window: int) -> Tensor:
    """You fill hidden scores with a number that is not low enough.

    With -10 a hidden key keeps a small weight, and a large one where the visible scores are low themselves. Is there
    a number below all others?
    """
    found, hidden = _window(query, key, rows, window)
    return torch.softmax(found.masked_fill(hidden, -10.0), dim=-1) @ value


@mistake(replaces="attend", dimension="masking")
def hidden_scores_are_minus_ten_thousand(query: Tensor, key: Tensor, value: Tensor, rows: slice, window: int) -> Tensor:
    """Your fill value is within the reach of scores.

    As long as the visible scores are moderate nothing shows. Where all of them lie below your fill, say -100 or
    -10,000, the hidden keys have the largest scores and take all the weight. Is there a number below all others?
    """
    found, hidden = _window(query, key, rows, window)
    return torch.softmax(found.masked_fill(hidden, -1e4), dim=-1) @ value


@mistake(replaces="attend", dimension="masking")
def masks_after_the_softmax(query: Tensor, key: Tensor, value: Tensor, rows: slice, window: int) -> Tensor:
    """You set weights to zero after the softmax, and leave it at that.

    The keys out of sight have taken their share of each row by then, so what is left adds up to less than one. Either
    hide scores before the softmax, or divide each row by its new sum.
    """
    found, hidden = _window(query, key, rows, window)
    return torch.softmax(found, dim=-1).masked_fill(hidden, 0.0) @ value


@mistake(replaces="local_attention", dimension="memory")
def holds_all_scores(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    """You hold the scores, or a mask, of all queries with all keys.

    What you return is right, but somewhere in your code there is a T x T tensor, nearly all of which is hidden. With a
    window of w, each query has 2w + 1 keys at most: nothing has to grow with the square of the length.
    """
    found, hidden = _window(query, key, slice(None), window)
    return torch.softmax(found.masked_fill(hidden, float("-inf")), dim=-1) @ value


@mistake(replaces="attend", dimension="masking")
def slices_begin_below_zero(query: Tensor, key: Tensor, value: Tensor, rows: slice, window: int) -> Tensor:
    """Your slices begin below zero near the start of the sequence.

    `key[i - window : i + window + 1]` counts a negative beginning from the end, so the first positions see nothing, or
    what lies at the other end. Take `max(0, i - window)`.
    """
    places = torch.arange(key.shape[-2])
    seen = torch.zeros(rows.stop - rows.start, key.shape[-2], dtype=torch.bool)
    for row in range(rows.start, rows.stop):
        seen[row - rows.start, places[row - window : row + window + 1]] = True
    scores = query[..., rows, :] @ key.transpose(-2, -1) / math.sqrt(key.shape[-1])
    shares = torch.softmax(scores.masked_fill(~seen, float("-inf")), dim=-1)
    return torch.where(seen, shares, torch.zeros_like(shares)) @ value
