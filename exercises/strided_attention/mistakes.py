"""What students get wrong in strided attention."""

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
    """Your mask does not cover the future.

    For a later key, i - j is negative, and so always smaller than the stride. You also need the condition j ≤ i, for
    both patterns.
    """
    return (columns >= 0).expand(rows.shape[0], -1)


@mistake(replaces="not_ahead", dimension="masking")
def sees_one_ahead(rows: Tensor, columns: Tensor) -> Tensor:
    """Every position attends to one future position.

    Your causal condition is off by one: in row i, column i + 1 must be masked.
    """
    return columns <= rows + 1


@mistake(replaces="not_ahead", dimension="masking")
def hides_itself(rows: Tensor, columns: Tensor) -> Tensor:
    """No position attends to itself.

    The key at distance i - j = 0 must be visible. Without it position 0 has no key, and a softmax over no keys is NaN.
    """
    return columns < rows


@mistake(replaces="not_ahead", dimension="masking")
def sees_the_future_only(rows: Tensor, columns: Tensor) -> Tensor:
    """You mask the past and show the future.

    You use the wrong triangle: `tril` keeps the part below the diagonal, `triu` the part above it. Rows are queries,
    columns are keys.
    """
    return columns >= rows


@mistake(replaces="visible", dimension="masking")
def looks_both_ways(scores: Tensor, stride: int) -> Tensor:
    """Your pattern extends into the past and into the future.

    You use the absolute distance |i - j|. Use i - j, and mask later keys at every distance.
    """
    rows, columns = _places(scores)
    distance = (rows - columns).abs()
    return (distance < stride) | (distance % stride == 0)


@mistake(replaces="either", dimension="masking")
def both_conditions_at_once(first: Tensor, second: Tensor) -> Tensor:
    """You require both conditions where one is enough.

    Only the query's own position is both recent *and* at a multiple of the stride, so your output equals the values. A
    position is visible if it is recent *or* at a multiple of the stride.
    """
    return first & second


@mistake(replaces="either", dimension="masking")
def whole_past(first: Tensor, second: Tensor) -> Tensor:
    """Your attention is causal, but attends to the whole past.

    Positions that are neither among the last `stride` nor at a multiple of the stride must be masked. Check whether
    `stride` has any effect.
    """
    return torch.ones_like(first)


@mistake(replaces="near", dimension="masking")
def only_whole_strides(rows: Tensor, columns: Tensor, stride: int) -> Tensor:
    """You attend only to multiples of the stride, not to recent positions.

    The last `stride` positions must be visible too. The two conditions are joined by "or": one of yours is missing, or
    never true.
    """
    return rows - columns < 0


@mistake(replaces="near", dimension="masking")
def near_past_too_short(rows: Tensor, columns: Tensor, stride: int) -> Tensor:
    """Your range of recent positions is one position too short.

    It has `stride` positions, including the query's own; yours omits the one furthest back. Check whether your
    comparison is strict, and where you start to count.
    """
    return rows - columns < stride - 1


@mistake(replaces="near", dimension="masking")
def near_past_twice_as_long(rows: Tensor, columns: Tensor, stride: int) -> Tensor:
    """Your range of recent positions is twice as long as it should be.

    It has `stride` positions. Positions between one and two strides back must be masked.
    """
    return rows - columns < 2 * stride


@mistake(replaces="near", dimension="masking")
def near_past_one_too_long(rows: Tensor, columns: Tensor, stride: int) -> Tensor:
    """Your range of recent positions extends beyond the stride.

    It covers distances below the stride. Distance `stride` is visible as a multiple, but distance `stride` + 1 must be
    masked. Check how you compare i - j with the stride.
    """
    return rows - columns <= stride + 1


@mistake(replaces="near", dimension="masking")
def blocks_for_the_near_past(rows: Tensor, columns: Tensor, stride: int) -> Tensor:
    """Your range of recent positions starts at fixed positions.

    You cut the sequence into blocks of `stride` positions and attend back to the start of the block. Here the range
    moves with the query: always the last `stride` positions.
    """
    return rows // stride == columns // stride


@mistake(replaces="on_stride", dimension="masking")
def only_the_near_past(rows: Tensor, columns: Tensor, stride: int) -> Tensor:
    """You attend only to recent positions, not to multiples of the stride.

    That is a sliding window. The other pattern, every `stride`-th position back to the start, is missing.
    """
    return rows - columns < 0


@mistake(replaces="on_stride", dimension="masking")
def strides_from_the_beginning(rows: Tensor, columns: Tensor, stride: int) -> Tensor:
    """You count the strides from the start of the sequence.

    In your code every query attends to the keys 0, s, 2s, …. The distance i - j must be a multiple of the stride, not
    j.
    """
    return (columns % stride == 0).expand(rows.shape[0], -1)


@mistake(replaces="on_stride", dimension="masking")
def last_of_each_block(rows: Tensor, columns: Tensor, stride: int) -> Tensor:
    """You attend to the last position of each block of `stride` positions.

    That is the fixed pattern of the same paper. In the strided pattern the distance i - j must be a multiple of the
    stride.
    """
    return (columns % stride == stride - 1).expand(rows.shape[0], -1)


@mistake(replaces="on_stride", dimension="masking")
def strides_of_the_query(rows: Tensor, columns: Tensor, stride: int) -> Tensor:
    """Every `stride`-th of your *queries* attends to everything.

    You test whether i is a multiple of the stride. Test the distance i - j instead.
    """
    return (rows % stride == 0).expand(-1, columns.shape[1])


@mistake(replaces="on_stride", dimension="masking")
def one_stride_only(rows: Tensor, columns: Tensor, stride: int) -> Tensor:
    """You go back only one stride.

    i - s is visible, and so are i - 2s, i - 3s, …, back to the start. The distance may be any multiple of the stride.
    """
    return rows - columns == stride


@mistake(replaces="on_stride", dimension="masking")
def strides_one_too_long(rows: Tensor, columns: Tensor, stride: int) -> Tensor:
    """Your strides are one position too long.

    You skip `stride` positions between two visible ones. Visible positions are `stride` steps apart, so there are only
    `stride` - 1 between them.
    """
    return (rows - columns) % (stride + 1) == 0


@mistake(replaces="on_stride", dimension="masking")
def strides_off_by_one(rows: Tensor, columns: Tensor, stride: int) -> Tensor:
    """Your strides are off by one position.

    You attend to i - s + 1, i - 2s + 1, …. Count from the query itself, at distance 0, not from the end of the recent
    positions.
    """
    return (rows - columns) % stride == (stride - 1) % stride


@mistake(replaces="visible", dimension="masking")
def heads_share_the_patterns(scores: Tensor, stride: int) -> Tensor:
    """Your heads alternate between the two patterns.

    The paper allows that, but here every head uses both patterns.
    """
    rows, columns = _places(scores)
    distance = rows - columns
    even = (torch.arange(scores.shape[1]) % 2 == 0)[:, None, None]
    return (distance >= 0) & torch.where(even, distance < stride, distance % stride == 0)


@mistake(replaces="visible", dimension="masking")
def strides_in_the_future_too(scores: Tensor, stride: int) -> Tensor:
    """Your strides extend into the future as well.

    For negative distances the remainder can be zero too. Both patterns must be causal, not only the recent positions.
    """
    rows, columns = _places(scores)
    distance = rows - columns
    return ((distance >= 0) & (distance < stride)) | (distance % stride == 0)


@mistake(replaces="weigh", dimension="masking")
def masks_after_the_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """You mask the weights after the softmax, so they do not add up to one.

    The masked keys are still part of the softmax denominator. Mask the scores before the softmax, or divide each row by
    its new sum.
    """
    return torch.softmax(scores, dim=-1) * mask


@mistake(replaces="strided_attention", dimension="numerics")
def scaled_after_the_softmax(query: Tensor, key: Tensor, value: Tensor, stride: int) -> Tensor:
    """You divide by √d after the softmax.

    Your weights no longer add up to one, and the softmax itself gets unscaled scores. Divide the scores, before the
    softmax.
    """
    scores = query @ key.transpose(-2, -1)
    hidden = ~_pattern(query, stride)
    return torch.softmax(scores.masked_fill(hidden, float("-inf")), dim=-1) / math.sqrt(key.shape[-1]) @ value


@mistake(replaces="strided_attention", dimension="numerics")
def mixes_the_keys(query: Tensor, key: Tensor, value: Tensor, stride: int) -> Tensor:
    """You multiply the weights by the keys, not by the values.

    Keys only determine the weights; the output is the weighted sum of the values. Check the last product.
    """
    return _attend(query, key, key, _pattern(query, stride))


@mistake(replaces="strided_attention", dimension="numerics")
def keys_and_values_swapped(query: Tensor, key: Tensor, value: Tensor, stride: int) -> Tensor:
    """You swap keys and values.

    You compare the queries with the values, and sum the keys. Check the order in which you pass or unpack the three.
    """
    return _attend(query, value, key, _pattern(query, stride))


@mistake(replaces="strided_attention", dimension="numerics")
def heads_taken_for_time(query: Tensor, key: Tensor, value: Tensor, stride: int) -> Tensor:
    """You use the head axis as the time axis.

    Your scores are between the heads of one position. The inputs are (batch, heads, time, dim): time is already the
    second axis from the end, so you need no transpose of time and heads.
    """
    turned = [tensor.transpose(1, 2) for tensor in (query, key, value)]
    return _attend(*turned, _pattern(turned[0], stride)).transpose(1, 2)


@mistake(replaces="mix", dimension="shapes")
def time_before_heads(weights: Tensor, values: Tensor) -> Tensor:
    """You return time before heads.

    The inputs are (batch, heads, time, dim), and the output must have the same order. Look for a transpose at the end.
    """
    return (weights @ values).transpose(1, 2)


@mistake(replaces="mix", dimension="shapes")
def heads_merged(weights: Tensor, values: Tensor) -> Tensor:
    """You concatenate the heads.

    Your output is (batch, time, heads · dim). Merging heads is done outside this function; here keep the head axis.
    """
    return (weights @ values).transpose(1, 2).flatten(2)


def _attend(query: Tensor, key: Tensor, value: Tensor, visible: Tensor) -> Tensor:
    scores = query @ key.transpose(-2, -1) / math.sqrt(key.shape[-1])
    return torch.softmax(scores.masked_fill(~visible, float("-inf")), dim=-1) @ value


def _pattern(tokens: Tensor, stride: int) -> Tensor:
    places = torch.arange(tokens.shape[-2])
    distance = places[:, None] - places[None, :]
    return (distance >= 0) & ((distance < stride) | (distance % stride == 0))


def _places(scores: Tensor) -> tuple[Tensor, Tensor]:
    places = torch.arange(scores.shape[-1])
    return places[:, None], places[None, :]


@mistake(replaces="visible", dimension="masking")
def near_on_both_sides(scores: Tensor, stride: int) -> Tensor:
    """Your recent positions also include future ones.

    You use the absolute distance |i - j|, so positions after the query are included. The condition j ≤ i holds for both
    patterns.
    """
    rows, columns = _places(scores)
    distance = rows - columns
    return (distance.abs() < stride) | ((distance >= 0) & (distance % stride == 0))


@mistake(replaces="on_stride", dimension="masking")
def strides_stop_before_the_first(rows: Tensor, columns: Tensor, stride: int) -> Tensor:
    """Your strides never reach position 0.

    They go back to the start of the sequence. The end of `range` is excluded: who counts down to position 0 ends at -1,
    and who counts up to distance i ends at i + 1.
    """
    return ((rows - columns) % stride == 0) & (columns > 0)


@mistake(replaces="weigh", dimension="numerics")
def counts_itself_twice(scores: Tensor, mask: Tensor) -> Tensor:
    """Every position counts itself twice.

    It is one of the recent positions, and also at distance 0, a multiple of the stride. If you combine two lists of
    keys, include each key only once.
    """
    twice = scores + math.log(2.0) * torch.eye(scores.shape[-1])
    return torch.softmax(twice.masked_fill(~mask, float("-inf")), dim=-1)
