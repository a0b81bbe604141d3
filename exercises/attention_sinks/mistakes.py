"""What students get wrong in attention with sinks."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from grader.exercise.families import gradients, masks, scores, weights
from grader.exercise.mistakes import mistake, take

from_scores = take(scores, except_=("halved",), also=("scaled_by_the_fourth_root",))

from_weights = take(weights, except_=("scores_clamped",), also=("hard_maximum", "mean_of_the_values"))

from_masks = take(masks, except_=("mask_inverted_with_a_large_number",))

from_gradients = take(gradients)


@mistake(replaces="not_ahead", dimension="masking")
def sees_the_future(rows: Tensor, columns: Tensor) -> Tensor:
    """You do not mask the future.

    For a later key, i - j is negative and therefore always smaller than the window. The condition j ≤ i is a separate
    one and must always hold.
    """
    return (columns >= 0).expand(rows.shape[0], -1)


@mistake(replaces="not_ahead", dimension="masking")
def sees_one_ahead(rows: Tensor, columns: Tensor) -> Tensor:
    """Every position attends to one future position.

    Your causal condition is off by one: in row i, column i + 1 is the first one that must be masked.
    """
    return columns <= rows + 1


@mistake(replaces="not_ahead", dimension="masking")
def hides_itself(rows: Tensor, columns: Tensor) -> Tensor:
    """No position attends to itself.

    Position 0 then attends to nothing: a softmax over no keys is NaN. The key with i - j = 0 must be visible.
    """
    return columns < rows


@mistake(replaces="not_ahead", dimension="masking")
def sees_the_future_only(rows: Tensor, columns: Tensor) -> Tensor:
    """You mask the past and show the future.

    You use the wrong triangle: `tril` keeps the entries on and below the diagonal, `triu` those on and above it. Rows
    are queries and columns are keys.
    """
    return columns >= rows


@mistake(replaces="visible", dimension="masking")
def looks_both_ways(scores: Tensor, window: int, num_sinks: int) -> Tensor:
    """Your pattern is symmetric: it covers past and future.

    You use the absolute distance |i - j|. Use i - j: a later key is masked at any distance.
    """
    rows, columns = _places(scores)
    distance = (rows - columns).abs()
    return (columns < num_sinks) | (distance < window)


@mistake(replaces="either", dimension="masking")
def both_conditions_at_once(first: Tensor, second: Tensor) -> Tensor:
    """You require both conditions, but one is enough.

    Your code shows only those sinks that are also recent. Later positions then have no sinks, or no visible key at all.
    A position is visible if it is a sink *or* recent.
    """
    return first & second


@mistake(replaces="either", dimension="masking")
def whole_past(first: Tensor, second: Tensor) -> Tensor:
    """Your attention is only causal: every position attends to the whole past.

    A position that is neither recent nor a sink must be masked. Check whether the window has any effect.
    """
    return torch.ones_like(first)


@mistake(replaces="recent", dimension="masking")
def only_the_sinks(rows: Tensor, columns: Tensor, window: int) -> Tensor:
    """Your code shows the sinks but no recent positions.

    The last `window` positions must be visible too, including the query's own. Combine the two conditions with "or".
    One of yours is missing or never true.
    """
    return rows - columns < 0


@mistake(replaces="recent", dimension="masking")
def window_too_narrow(rows: Tensor, columns: Tensor, window: int) -> Tensor:
    """Your window is one position too narrow.

    The window holds `window` positions, including the query's own: for a window of 3 these are i, i - 1 and i - 2.
    Check whether your comparison must be strict, and from where you count.
    """
    return rows - columns < window - 1


@mistake(replaces="recent", dimension="masking")
def window_too_wide(rows: Tensor, columns: Tensor, window: int) -> Tensor:
    """Your window is one position too wide.

    The window holds `window` positions, including the query's own: for a window of 3 these are i, i - 1 and i - 2.
    Check your comparison of i - j with the window, or the diagonal from which your triangle starts.
    """
    return rows - columns <= window


@mistake(replaces="recent", dimension="masking")
def window_twice_as_wide(rows: Tensor, columns: Tensor, window: int) -> Tensor:
    """Your window is twice as wide as it should be.

    The window holds `window` positions in total, and all of them are at or before the query.
    """
    return rows - columns < 2 * window


@mistake(replaces="recent", dimension="masking")
def blocks_for_the_window(rows: Tensor, columns: Tensor, window: int) -> Tensor:
    """Your window starts at fixed positions.

    You divide the sequence into blocks of `window` positions, and each query attends to its own block. The window must
    slide: it always holds the last `window` positions.
    """
    return rows // window == columns // window


@mistake(replaces="is_sink", dimension="masking")
def no_sinks(rows: Tensor, columns: Tensor, num_sinks: int) -> Tensor:
    """Your sinks are not visible.

    Your code shows only the window, and trained models fail without their sinks. The first `num_sinks` positions must
    stay visible at any distance.
    """
    return (columns < 0).expand(rows.shape[0], -1)


@mistake(replaces="is_sink", dimension="masking")
def one_sink_too_many(rows: Tensor, columns: Tensor, num_sinks: int) -> Tensor:
    """You have one sink too many.

    Positions count from 0, so the sinks are positions 0 to num_sinks - 1. With `num_sinks=0` there are none.
    """
    return (columns <= num_sinks).expand(rows.shape[0], -1)


@mistake(replaces="is_sink", dimension="masking")
def one_sink_too_few(rows: Tensor, columns: Tensor, num_sinks: int) -> Tensor:
    """You have one sink too few.

    Positions count from 0, so the sinks are positions 0, 1, …, num_sinks - 1.
    """
    return (columns < num_sinks - 1).expand(rows.shape[0], -1)


@mistake(replaces="is_sink", dimension="masking")
def first_position_only(rows: Tensor, columns: Tensor, num_sinks: int) -> Tensor:
    """Only position 0 is a sink in your code.

    There must be `num_sinks` sinks. Look for an index where a slice belongs, or for a comparison with zero.
    """
    return ((columns == 0) & (num_sinks > 0)).expand(rows.shape[0], -1)


@mistake(replaces="is_sink", dimension="masking")
def always_four_sinks(rows: Tensor, columns: Tensor, num_sinks: int) -> Tensor:
    """You always have four sinks.

    The paper recommends four, but here `num_sinks` sets the number, and 0 is allowed. Look for a constant where
    `num_sinks` belongs.
    """
    return (columns < 4).expand(rows.shape[0], -1)


@mistake(replaces="is_sink", dimension="masking")
def position_zero_always(rows: Tensor, columns: Tensor, num_sinks: int) -> Tensor:
    """Position 0 is a sink in your code even with `num_sinks=0`.

    With `num_sinks=0` only the window is visible. Look for code that always includes position 0: `max(num_sinks, 1)`,
    `num_sinks or 1`, or an index 0 where the slice `[:num_sinks]` belongs.
    """
    return (columns < max(num_sinks, 1)).expand(rows.shape[0], -1)


@mistake(replaces="is_sink", dimension="masking")
def last_positions_are_sinks(rows: Tensor, columns: Tensor, num_sinks: int) -> Tensor:
    """Your sinks are the last positions of the sequence.

    The sinks must be the first positions, which every later token has been able to attend to. Look for a slice that
    counts from the end.
    """
    return (columns >= columns.shape[1] - num_sinks).expand(rows.shape[0], -1)


@mistake(replaces="is_sink", dimension="masking")
def queries_are_sinks(rows: Tensor, columns: Tensor, num_sinks: int) -> Tensor:
    """The first *queries* attend to everything, not all queries to the first *keys*.

    In the score matrix, rows are queries and columns are keys. Check along which axis you select the first `num_sinks`.
    """
    return (rows < num_sinks).expand(-1, columns.shape[1])


@mistake(replaces="visible", dimension="masking")
def sinks_in_the_future(scores: Tensor, window: int, num_sinks: int) -> Tensor:
    """Your sinks are visible before their own position.

    In your code, position 0 attends to the second sink, which is later. A sink must be visible only to itself and to
    later positions. If you unmask the sink columns after the causal mask, the first rows see the future.
    """
    rows, columns = _places(scores)
    return (columns < num_sinks) | ((columns <= rows) & (rows - columns < window))


@mistake(replaces="visible", dimension="masking")
def sinks_take_room_in_the_window(scores: Tensor, window: int, num_sinks: int) -> Tensor:
    """Your sinks reduce the size of the window.

    In your code a query attends to `window` positions in total. The window must hold `window` recent positions, and the
    sinks are additional.
    """
    rows, columns = _places(scores)
    recent = rows - columns < window - num_sinks
    return (columns <= rows) & ((columns < num_sinks) | recent)


@mistake(replaces="visible", dimension="masking")
def sinks_lengthen_the_window(scores: Tensor, window: int, num_sinks: int) -> Tensor:
    """Your window grows by the number of sinks.

    The window holds `window` recent positions for any number of sinks. The sinks are additional, but they do not change
    the window.
    """
    rows, columns = _places(scores)
    return (columns <= rows) & ((columns < num_sinks) | (rows - columns < window + num_sinks))


@mistake(replaces="visible", dimension="masking")
def window_and_sinks_exchanged(scores: Tensor, window: int, num_sinks: int) -> Tensor:
    """You swap `window` and `num_sinks`.

    Your code shows the first `window` positions and the last `num_sinks`. Check the order of the arguments, both in
    your signatures and in your calls.
    """
    rows, columns = _places(scores)
    return (columns <= rows) & ((columns < window) | (rows - columns < num_sinks))


@mistake(replaces="normalise", dimension="numerics")
def an_extra_one_in_the_denominator(scores: Tensor) -> Tensor:
    """You add one to the softmax's denominator.

    That is another solution to the same problem: an artificial sink with score zero and no value. Here the sinks are
    the first tokens, and each row of weights adds up to one.
    """
    nobody = torch.zeros_like(scores[..., :1])
    return torch.softmax(torch.cat((nobody, scores), dim=-1), dim=-1)[..., 1:]


@mistake(replaces="weigh", dimension="masking")
def masks_after_the_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """You set weights to zero after the softmax without renormalising.

    Masked keys already took their share of each row in the softmax, so the remaining weights add up to less than one.
    Mask the scores before the softmax, or divide each row by its remaining sum.
    """
    return torch.softmax(scores, dim=-1) * mask


@mistake(replaces="sink_attention", dimension="numerics")
def scaled_after_the_softmax(query: Tensor, key: Tensor, value: Tensor, window: int, num_sinks: int) -> Tensor:
    """You divide by √d after the softmax.

    Your weights then no longer add up to one, and they are as sharp as without scaling. Divide the scores before the
    softmax.
    """
    scores = query @ key.transpose(-2, -1)
    hidden = ~_pattern(query, window, num_sinks)
    return torch.softmax(scores.masked_fill(hidden, float("-inf")), dim=-1) / math.sqrt(key.shape[-1]) @ value


@mistake(replaces="sink_attention", dimension="numerics")
def mixes_the_keys(query: Tensor, key: Tensor, value: Tensor, window: int, num_sinks: int) -> Tensor:
    """You average the keys instead of the values.

    Keys only determine the weights; the output is the weighted sum of the values. Check the last product.
    """
    return _attend(query, key, key, _pattern(query, window, num_sinks))


@mistake(replaces="sink_attention", dimension="numerics")
def keys_and_values_swapped(query: Tensor, key: Tensor, value: Tensor, window: int, num_sinks: int) -> Tensor:
    """You swap keys and values.

    You compare the queries with the values and average the keys. Check the order in which you pass or unpack them.
    """
    return _attend(query, value, key, _pattern(query, window, num_sinks))


@mistake(replaces="sink_attention", dimension="numerics")
def heads_taken_for_time(query: Tensor, key: Tensor, value: Tensor, window: int, num_sinks: int) -> Tensor:
    """You treat the head axis as the time axis.

    Your scores compare the heads of one position. The inputs have the shape (batch, heads, time, dim): time is already
    the second axis from the end, so no transpose is needed before the product.
    """
    turned = [tensor.transpose(1, 2) for tensor in (query, key, value)]
    return _attend(*turned, _pattern(turned[0], window, num_sinks)).transpose(1, 2)


@mistake(replaces="mix", dimension="shapes")
def time_before_heads(weights: Tensor, values: Tensor) -> Tensor:
    """You return the time axis before the head axis.

    Input and output both have the order (batch, heads, time, dim). Look for a transpose at the end.
    """
    return (weights @ values).transpose(1, 2)


@mistake(replaces="mix", dimension="shapes")
def heads_merged(weights: Tensor, values: Tensor) -> Tensor:
    """You merge the heads.

    Your result has the shape (batch, time, heads · dim). Here each head keeps its own axis; the layer that calls this
    function merges the heads.
    """
    return (weights @ values).transpose(1, 2).flatten(2)


def _attend(query: Tensor, key: Tensor, value: Tensor, visible: Tensor) -> Tensor:
    scores = query @ key.transpose(-2, -1) / math.sqrt(key.shape[-1])
    return torch.softmax(scores.masked_fill(~visible, float("-inf")), dim=-1) @ value


def _pattern(tokens: Tensor, window: int, num_sinks: int) -> Tensor:
    rows, columns = _places(tokens.transpose(-2, -1))
    return (columns <= rows) & ((columns < num_sinks) | (rows - columns < window))


def _places(scores: Tensor) -> tuple[Tensor, Tensor]:
    places = torch.arange(scores.shape[-1])
    return places[:, None], places[None, :]


@mistake(replaces="normalise", dimension="numerics")
def one_more_in_the_shifted_denominator(scores: Tensor) -> Tensor:
    """You add 1 to a sum of shifted exponentials.

    Your weights add up to less than one. Here the sinks are tokens of the sequence, and the softmax is the ordinary
    one. (In the variant with an extra 1, the 1 is exp(0) for an additional score of zero. That score must be shifted
    like the others.)
    """
    raised = (scores - scores.amax(dim=-1, keepdim=True)).exp()
    return raised / (1 + raised.sum(dim=-1, keepdim=True))


@mistake(replaces="sink_attention", dimension="numerics")
def recent_sinks_count_twice(query: Tensor, key: Tensor, value: Tensor, window: int, num_sinks: int) -> Tensor:
    """You count a sink that is also recent twice.

    If you concatenate the sinks and the window, a position that is in both must occur only once. This happens near the
    beginning of every sequence.
    """
    rows, columns = _places(query @ key.transpose(-2, -1))
    twice = (columns < num_sinks) & (rows - columns < window)
    scores = query @ key.transpose(-2, -1) / math.sqrt(key.shape[-1]) + math.log(2.0) * twice
    hidden = ~_pattern(key, window, num_sinks)
    return torch.softmax(scores.masked_fill(hidden, float("-inf")), dim=-1) @ value
