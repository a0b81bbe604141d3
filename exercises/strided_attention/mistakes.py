"""What students get wrong in strided attention."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from grader.exercise.families import gradients, masks, scores, weights
from grader.exercise.mistakes import mistake

no_scaling = scores.no_scaling
scaled_by_half_the_width = scores.scaled_by_half_the_width
scaled_by_twice_the_width = scores.scaled_by_twice_the_width
scaled_by_the_rounded_root = scores.scaled_by_the_rounded_root
scaled_by_the_width_itself = scores.scaled_by_the_width_itself
multiplied_by_the_root = scores.multiplied_by_the_root
scaled_by_the_fourth_root = scores.scaled_by_the_fourth_root
scaled_by_the_length = scores.scaled_by_the_length
scaled_by_the_number_of_heads = scores.scaled_by_the_number_of_heads
scaled_by_the_width_of_all_heads = scores.scaled_by_the_width_of_all_heads
queries_meet_queries = scores.queries_meet_queries
keys_meet_keys = scores.keys_meet_keys
keys_ask_queries = scores.keys_ask_queries

softmax_over_queries = weights.softmax_over_queries
softmax_over_the_first_axis = weights.softmax_over_the_first_axis
softmax_over_heads = weights.softmax_over_heads
no_softmax = weights.no_softmax
sigmoid_for_softmax = weights.sigmoid_for_softmax
log_softmax_for_softmax = weights.log_softmax_for_softmax
hard_maximum = weights.hard_maximum
overflowing_softmax = weights.overflowing_softmax
shifted_by_the_largest_of_all = weights.shifted_by_the_largest_of_all
epsilon_in_the_denominator = weights.epsilon_in_the_denominator
weights_transposed = weights.weights_transposed
mean_of_the_values = weights.mean_of_the_values
every_head_the_first = weights.every_head_the_first
weights_averaged_over_heads = weights.weights_averaged_over_heads
first_sequence_for_all = weights.first_sequence_for_all
time_before_batch = weights.time_before_batch

mask_ignored = masks.mask_ignored
mask_inverted = masks.mask_inverted
mask_added = masks.mask_added
hidden_scores_are_zero = masks.hidden_scores_are_zero
hidden_scores_are_minus_one = masks.hidden_scores_are_minus_one
hidden_scores_are_minus_ten = masks.hidden_scores_are_minus_ten
hidden_scores_are_minus_twenty = masks.hidden_scores_are_minus_twenty
hidden_scores_are_minus_ten_thousand = masks.hidden_scores_are_minus_ten_thousand
zero_times_infinity = masks.zero_times_infinity
mask_transposed = masks.mask_transposed
masks_the_first_head_only = masks.masks_the_first_head_only

weights_cut_off = gradients.weights_cut_off
values_cut_off = gradients.values_cut_off
keys_cut_off = gradients.keys_cut_off
queries_cut_off = gradients.queries_cut_off
everything_cut_off = gradients.everything_cut_off
sum_cut_off = gradients.sum_cut_off


@mistake(replaces="not_ahead", dimension="masking")
def sees_the_future(rows: Tensor, columns: Tensor) -> Tensor:
    """Nothing keeps the future hidden.

    For a key that comes later, i - j is negative, and so always smaller than the stride. That j is not larger than
    i is a condition of its own, and must hold always.
    """
    return (columns >= 0).expand(rows.shape[0], -1)


@mistake(replaces="not_ahead", dimension="masking")
def sees_one_ahead(rows: Tensor, columns: Tensor) -> Tensor:
    """Every position sees one position of its future.

    Your causal condition is off by one: in row i, column i + 1 is the first to be hidden.
    """
    return columns <= rows + 1


@mistake(replaces="not_ahead", dimension="masking")
def hides_itself(rows: Tensor, columns: Tensor) -> Tensor:
    """No position sees itself.

    Then position 0 sees nothing at all: a softmax over nothing is NaN. The key at i - j = 0 is visible.
    """
    return columns < rows


@mistake(replaces="not_ahead", dimension="masking")
def sees_the_future_only(rows: Tensor, columns: Tensor) -> Tensor:
    """You hide the past and show the future.

    Your triangle is the other one: `tril` keeps what lies below the diagonal, `triu` what lies above it. A query
    stands in a row of the table, a key in a column.
    """
    return columns >= rows


@mistake(replaces="visible", dimension="masking")
def looks_both_ways(scores: Tensor, stride: int) -> Tensor:
    """Your pattern goes both ways, into the past and into the future.

    You use the distance without its sign, |i - j|. Here i - j counts, and a key that comes later is hidden
    whatever its distance is.
    """
    rows, columns = _places(scores)
    distance = (rows - columns).abs()
    return (distance < stride) | (distance % stride == 0)


@mistake(replaces="either", dimension="masking")
def both_conditions_at_once(first: Tensor, second: Tensor) -> Tensor:
    """You ask for both conditions where one is enough.

    A position that is near *and* whole strides away is the query itself alone, so your output is the values as
    they came. A position is visible if it is near, *or* if it lies whole strides back.
    """
    return first & second


@mistake(replaces="either", dimension="masking")
def whole_past(first: Tensor, second: Tensor) -> Tensor:
    """Your attention is causal and nothing more: it sees the whole past.

    A position that is neither near nor whole strides back has to be hidden. Look whether the stride has any
    effect.
    """
    return torch.ones_like(first)


@mistake(replaces="near", dimension="masking")
def only_whole_strides(rows: Tensor, columns: Tensor, stride: int) -> Tensor:
    """You see what lies whole strides back, and not what is near.

    The last `stride` positions are visible too, each of them. Two conditions are joined by "or"; one of yours is
    missing, or never holds.
    """
    return rows - columns < 0


@mistake(replaces="near", dimension="masking")
def near_past_too_short(rows: Tensor, columns: Tensor, stride: int) -> Tensor:
    """Your near past is one position too short.

    It holds `stride` positions, the query's own included; yours leaves the farthest of them out. Is your
    comparison strict where it should be, and from where do you count?
    """
    return rows - columns < stride - 1


@mistake(replaces="near", dimension="masking")
def near_past_twice_as_long(rows: Tensor, columns: Tensor, stride: int) -> Tensor:
    """Your near past is twice as long as it should be.

    It ends one stride back. What lies between one stride and two is hidden.
    """
    return rows - columns < 2 * stride


@mistake(replaces="near", dimension="masking")
def near_past_one_too_long(rows: Tensor, columns: Tensor, stride: int) -> Tensor:
    """Your near past goes on behind the stride.

    The position exactly one stride back is visible anyhow; the one behind it is not. Look at the comparison of i -
    j with the stride.
    """
    return rows - columns <= stride + 1


@mistake(replaces="near", dimension="masking")
def blocks_for_the_near_past(rows: Tensor, columns: Tensor, stride: int) -> Tensor:
    """Your near past begins at fixed places.

    You cut the sequence into blocks of `stride` positions and look back to the beginning of the block. Here the
    near past moves along with the query: always the last `stride` positions.
    """
    return rows // stride == columns // stride


@mistake(replaces="on_stride", dimension="masking")
def only_the_near_past(rows: Tensor, columns: Tensor, stride: int) -> Tensor:
    """You see what is near, and nothing of what lies whole strides back.

    That is a sliding window. The other pattern, every so-many-th position back to the beginning, is missing.
    """
    return rows - columns < 0


@mistake(replaces="on_stride", dimension="masking")
def strides_from_the_beginning(rows: Tensor, columns: Tensor, stride: int) -> Tensor:
    """You count the strides from the beginning of the sequence.

    In yours every query sees the keys 0, s, 2s, …. The strides begin at the query: it is the distance i - j that
    has to be a multiple, not j.
    """
    return (columns % stride == 0).expand(rows.shape[0], -1)


@mistake(replaces="on_stride", dimension="masking")
def last_of_each_block(rows: Tensor, columns: Tensor, stride: int) -> Tensor:
    """You see the last position of each block of `stride`.

    That is another pattern of the same paper, the fixed one. In the strided one it is the distance i - j that has
    to be a multiple of the stride.
    """
    return (columns % stride == stride - 1).expand(rows.shape[0], -1)


@mistake(replaces="on_stride", dimension="masking")
def strides_of_the_query(rows: Tensor, columns: Tensor, stride: int) -> Tensor:
    """Every so-many-th of your *queries* sees everything.

    Whether i is a multiple of the stride does not matter, and neither does j alone. Their distance does.
    """
    return (rows % stride == 0).expand(-1, columns.shape[1])


@mistake(replaces="on_stride", dimension="masking")
def one_stride_only(rows: Tensor, columns: Tensor, stride: int) -> Tensor:
    """You go back one stride and stop.

    i - s is visible, and so are i - 2s, i - 3s, …, back to the beginning. Distance equal to the stride, or a
    multiple of it?
    """
    return rows - columns == stride


@mistake(replaces="on_stride", dimension="masking")
def strides_one_too_long(rows: Tensor, columns: Tensor, stride: int) -> Tensor:
    """Your strides are one position too long.

    You leave `stride` positions out between two that are seen. From one to the next it is `stride` steps, so one
    less lies between them.
    """
    return (rows - columns) % (stride + 1) == 0


@mistake(replaces="on_stride", dimension="masking")
def strides_off_by_one(rows: Tensor, columns: Tensor, stride: int) -> Tensor:
    """Your strides have slipped by one position.

    You see i - s + 1, i - 2s + 1, …. Count from the query itself, whose distance is 0. If you begin with the near
    past and go on from its end, look where that is.
    """
    return (rows - columns) % stride == (stride - 1) % stride


@mistake(replaces="visible", dimension="masking")
def heads_share_the_patterns(scores: Tensor, stride: int) -> Tensor:
    """Your heads take turns: one looks at the near past, the next whole strides back.

    The paper allows that, but here every head has both patterns.
    """
    rows, columns = _places(scores)
    distance = rows - columns
    even = (torch.arange(scores.shape[1]) % 2 == 0)[:, None, None]
    return (distance >= 0) & torch.where(even, distance < stride, distance % stride == 0)


@mistake(replaces="visible", dimension="masking")
def strides_in_the_future_too(scores: Tensor, stride: int) -> Tensor:
    """Your whole strides go into the future as well.

    The remainder of a negative distance is zero too. Only the near past of yours is causal; both patterns have to
    be.
    """
    rows, columns = _places(scores)
    distance = rows - columns
    return ((distance >= 0) & (distance < stride)) | (distance % stride == 0)


@mistake(replaces="weigh", dimension="masking")
def masks_after_the_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """You set weights to zero after the softmax, and leave it at that.

    Hidden keys have taken their share of each row by then, so what is left adds up to less than one. Hide the
    scores before the softmax, or divide each row by what is left of its sum.
    """
    return torch.softmax(scores, dim=-1) * mask


@mistake(replaces="strided_attention", dimension="numerics")
def scaled_after_the_softmax(query: Tensor, key: Tensor, value: Tensor, stride: int) -> Tensor:
    """You divide by √d after the softmax.

    Then your weights no longer add up to one, and they are as sharp as without any scaling. The division belongs
    to the scores, before they become weights.
    """
    scores = query @ key.transpose(-2, -1)
    hidden = ~_pattern(query, stride)
    return torch.softmax(scores.masked_fill(hidden, float("-inf")), dim=-1) / math.sqrt(key.shape[-1]) @ value


@mistake(replaces="strided_attention", dimension="numerics")
def mixes_the_keys(query: Tensor, key: Tensor, value: Tensor, stride: int) -> Tensor:
    """You gather the keys, not the values.

    Keys only decide how much each position matters; what is gathered from it is its value. Look at the last
    product.
    """
    return _attend(query, key, key, _pattern(query, stride))


@mistake(replaces="strided_attention", dimension="numerics")
def keys_and_values_swapped(query: Tensor, key: Tensor, value: Tensor, stride: int) -> Tensor:
    """Your keys and values have changed places.

    You compare the queries with the values, and gather the keys. Look at the order in which you hand the three on,
    or unpack them.
    """
    return _attend(query, value, key, _pattern(query, stride))


@mistake(replaces="strided_attention", dimension="numerics")
def heads_taken_for_time(query: Tensor, key: Tensor, value: Tensor, stride: int) -> Tensor:
    """You take the heads for the sequence.

    Your scores are between the heads of one position. What comes in is (batch, heads, time, dim): the positions
    are the second axis from the end already, and nothing needs to be transposed before the product.
    """
    turned = [tensor.transpose(1, 2) for tensor in (query, key, value)]
    return _attend(*turned, _pattern(turned[0], stride)).transpose(1, 2)


@mistake(replaces="mix", dimension="shapes")
def time_before_heads(weights: Tensor, values: Tensor) -> Tensor:
    """You return time before heads.

    What comes in is (batch, heads, time, dim), and what you return has the same order. Look for a transpose at the
    end.
    """
    return (weights @ values).transpose(1, 2)


@mistake(replaces="mix", dimension="shapes")
def heads_merged(weights: Tensor, values: Tensor) -> Tensor:
    """You put the heads side by side.

    Your result is (batch, time, heads · dim). Merging heads is the task of the layer round this function; here
    each head keeps its axis.
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
    """Your near past has a near future with it.

    The last positions are meant, not those on both sides: a distance without its sign says nothing of before and
    after. The condition that nothing may lie ahead holds for both patterns.
    """
    rows, columns = _places(scores)
    distance = rows - columns
    return (distance.abs() < stride) | ((distance >= 0) & (distance % stride == 0))


@mistake(replaces="on_stride", dimension="masking")
def strides_stop_before_the_first(rows: Tensor, columns: Tensor, stride: int) -> Tensor:
    """Your strides never reach position 0.

    They go back as far as there are positions. A `range` that counts down ends before its second number; to reach 0 it
    has to be -1.
    """
    return ((rows - columns) % stride == 0) & (columns > 0)


@mistake(replaces="weigh", dimension="numerics")
def counts_itself_twice(scores: Tensor, mask: Tensor) -> Tensor:
    """Every position counts itself twice.

    It is the last of the near past, and zero strides back. In a list of keys that is put together from both, what
    belongs to both must stand once.
    """
    twice = scores + math.log(2.0) * torch.eye(scores.shape[-1])
    return torch.softmax(twice.masked_fill(~mask, float("-inf")), dim=-1)
