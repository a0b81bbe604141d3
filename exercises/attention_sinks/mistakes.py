"""What students get wrong in attention with sinks."""

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

    For a key that comes later, i - j is negative, and so always smaller than the window. That j is not larger than
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
def looks_both_ways(scores: Tensor, window: int, num_sinks: int) -> Tensor:
    """Your pattern goes both ways, into the past and into the future.

    You use the distance without its sign, |i - j|. Here i - j counts, and a key that comes later is hidden
    whatever its distance is.
    """
    rows, columns = _places(scores)
    distance = (rows - columns).abs()
    return (columns < num_sinks) | (distance < window)


@mistake(replaces="either", dimension="masking")
def both_conditions_at_once(first: Tensor, second: Tensor) -> Tensor:
    """You ask for both conditions where one is enough.

    Yours sees those sinks that happen to be recent, and before long nothing at all. A position is visible if it is
    a sink, *or* if it is recent.
    """
    return first & second


@mistake(replaces="either", dimension="masking")
def whole_past(first: Tensor, second: Tensor) -> Tensor:
    """Your attention is causal and nothing more: it sees the whole past.

    A position that is neither recent nor a sink has to be hidden. Look whether the window has any effect.
    """
    return torch.ones_like(first)


@mistake(replaces="recent", dimension="masking")
def only_the_sinks(rows: Tensor, columns: Tensor, window: int) -> Tensor:
    """You see the sinks and nothing recent.

    The last `window` positions are visible too, the query's own among them. Two conditions are joined by "or"; one
    of yours is missing, or never holds.
    """
    return rows - columns < 0


@mistake(replaces="recent", dimension="masking")
def window_too_narrow(rows: Tensor, columns: Tensor, window: int) -> Tensor:
    """Your window is one position too narrow.

    It holds `window` positions, the query's own included: for a window of 3 those are i, i - 1 and i - 2. Is your
    comparison strict where it should be, and from where do you count?
    """
    return rows - columns < window - 1


@mistake(replaces="recent", dimension="masking")
def window_too_wide(rows: Tensor, columns: Tensor, window: int) -> Tensor:
    """Your window is one position too wide.

    It holds `window` positions, the query's own included: for a window of 3 those are i, i - 1 and i - 2. Look at
    your comparison of i - j with the window, or at the diagonal from which your triangle starts.
    """
    return rows - columns <= window


@mistake(replaces="recent", dimension="masking")
def window_twice_as_wide(rows: Tensor, columns: Tensor, window: int) -> Tensor:
    """Your window is twice as wide as it should be.

    It holds `window` positions in all, and all of them lie in the past or at the query's own place.
    """
    return rows - columns < 2 * window


@mistake(replaces="recent", dimension="masking")
def blocks_for_the_window(rows: Tensor, columns: Tensor, window: int) -> Tensor:
    """Your window begins at fixed places.

    You cut the sequence into blocks of `window` positions and look back to the beginning of the block. The window
    slides: it always holds the last `window` positions.
    """
    return rows // window == columns // window


@mistake(replaces="is_sink", dimension="masking")
def no_sinks(rows: Tensor, columns: Tensor, num_sinks: int) -> Tensor:
    """Your sinks are not visible.

    You see the window alone, and that is where models break down. The first `num_sinks` positions stay visible,
    however long ago they were.
    """
    return (columns < 0).expand(rows.shape[0], -1)


@mistake(replaces="is_sink", dimension="masking")
def one_sink_too_many(rows: Tensor, columns: Tensor, num_sinks: int) -> Tensor:
    """You have one sink too many.

    Positions count from 0, so the sinks are those from 0 to num_sinks - 1; and with `num_sinks=0` there is none.
    """
    return (columns <= num_sinks).expand(rows.shape[0], -1)


@mistake(replaces="is_sink", dimension="masking")
def one_sink_too_few(rows: Tensor, columns: Tensor, num_sinks: int) -> Tensor:
    """You have one sink too few.

    Positions count from 0, and there are `num_sinks` of them that stay visible: 0, 1, …, num_sinks - 1.
    """
    return (columns < num_sinks - 1).expand(rows.shape[0], -1)


@mistake(replaces="is_sink", dimension="masking")
def first_position_only(rows: Tensor, columns: Tensor, num_sinks: int) -> Tensor:
    """Only your very first position is a sink.

    There are `num_sinks` of them. Look for an index where a slice belongs, or for a comparison with zero.
    """
    return ((columns == 0) & (num_sinks > 0)).expand(rows.shape[0], -1)


@mistake(replaces="is_sink", dimension="masking")
def always_four_sinks(rows: Tensor, columns: Tensor, num_sinks: int) -> Tensor:
    """You always have four sinks.

    Four is what the paper recommends; here `num_sinks` says how many there are, and 0 is possible. Look for a number
    where the name should stand.
    """
    return (columns < 4).expand(rows.shape[0], -1)


@mistake(replaces="is_sink", dimension="masking")
def position_zero_always(rows: Tensor, columns: Tensor, num_sinks: int) -> Tensor:
    """Position 0 is a sink of yours even when there are to be none.

    With `num_sinks=0` the window alone is visible. Look for what shows position 0 whatever `num_sinks` is: a
    `max(num_sinks, 1)`, a `num_sinks or 1`, or an index 0 where a slice `[:num_sinks]` belongs.
    """
    return (columns < max(num_sinks, 1)).expand(rows.shape[0], -1)


@mistake(replaces="is_sink", dimension="masking")
def last_positions_are_sinks(rows: Tensor, columns: Tensor, num_sinks: int) -> Tensor:
    """Your sinks are the last positions of the sequence.

    Sinks are what every later token has been able to see: the first ones. Look for a slice that counts from the
    end.
    """
    return (columns >= columns.shape[1] - num_sinks).expand(rows.shape[0], -1)


@mistake(replaces="is_sink", dimension="masking")
def queries_are_sinks(rows: Tensor, columns: Tensor, num_sinks: int) -> Tensor:
    """Your first *queries* see everything; all should see the first *keys*.

    In a table of scores a row is a query and a column is a key. Look at the axis along which you take the first
    `num_sinks`.
    """
    return (rows < num_sinks).expand(-1, columns.shape[1])


@mistake(replaces="visible", dimension="masking")
def sinks_in_the_future(scores: Tensor, window: int, num_sinks: int) -> Tensor:
    """Your sinks can be seen before they are there.

    Position 0 already sees the second sink, which comes later. A sink stays visible for ever, but not from ever:
    if you open its column after the causal mask, the first rows open too.
    """
    rows, columns = _places(scores)
    return (columns < num_sinks) | ((columns <= rows) & (rows - columns < window))


@mistake(replaces="visible", dimension="masking")
def sinks_take_room_in_the_window(scores: Tensor, window: int, num_sinks: int) -> Tensor:
    """Your sinks take room away from the window.

    You let a query see `window` positions in all. Here the window holds `window` recent ones, and the sinks come
    on top.
    """
    rows, columns = _places(scores)
    recent = rows - columns < window - num_sinks
    return (columns <= rows) & ((columns < num_sinks) | recent)


@mistake(replaces="visible", dimension="masking")
def sinks_lengthen_the_window(scores: Tensor, window: int, num_sinks: int) -> Tensor:
    """Your window grows by the number of sinks.

    It holds `window` recent positions, however many sinks there are. What grows is the number of all visible positions,
    because the sinks come on top.
    """
    rows, columns = _places(scores)
    return (columns <= rows) & ((columns < num_sinks) | (rows - columns < window + num_sinks))


@mistake(replaces="visible", dimension="masking")
def window_and_sinks_exchanged(scores: Tensor, window: int, num_sinks: int) -> Tensor:
    """You have exchanged the window and the number of sinks.

    Yours sees the first `window` positions and the last `num_sinks`. Look at the order of the arguments, where you
    take them and where you hand them on.
    """
    rows, columns = _places(scores)
    return (columns <= rows) & ((columns < window) | (rows - columns < num_sinks))


@mistake(replaces="normalise", dimension="numerics")
def an_extra_one_in_the_denominator(scores: Tensor) -> Tensor:
    """You add one to the softmax's denominator.

    That is another remedy for the same trouble: a sink that is no token, with a score of zero and no value. Here
    the sinks are the first tokens, and the weights of a row add up to one.
    """
    nobody = torch.zeros_like(scores[..., :1])
    return torch.softmax(torch.cat((nobody, scores), dim=-1), dim=-1)[..., 1:]


@mistake(replaces="weigh", dimension="masking")
def masks_after_the_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """You set weights to zero after the softmax, and leave it at that.

    Hidden keys have taken their share of each row by then, so what is left adds up to less than one. Hide the
    scores before the softmax, or divide each row by what is left of its sum.
    """
    return torch.softmax(scores, dim=-1) * mask


@mistake(replaces="sink_attention", dimension="numerics")
def scaled_after_the_softmax(query: Tensor, key: Tensor, value: Tensor, window: int, num_sinks: int) -> Tensor:
    """You divide by √d after the softmax.

    Then your weights no longer add up to one, and they are as sharp as without any scaling. The division belongs
    to the scores, before they become weights.
    """
    scores = query @ key.transpose(-2, -1)
    hidden = ~_pattern(query, window, num_sinks)
    return torch.softmax(scores.masked_fill(hidden, float("-inf")), dim=-1) / math.sqrt(key.shape[-1]) @ value


@mistake(replaces="sink_attention", dimension="numerics")
def mixes_the_keys(query: Tensor, key: Tensor, value: Tensor, window: int, num_sinks: int) -> Tensor:
    """You gather the keys, not the values.

    Keys only decide how much each position matters; what is gathered from it is its value. Look at the last
    product.
    """
    return _attend(query, key, key, _pattern(query, window, num_sinks))


@mistake(replaces="sink_attention", dimension="numerics")
def keys_and_values_swapped(query: Tensor, key: Tensor, value: Tensor, window: int, num_sinks: int) -> Tensor:
    """Your keys and values have changed places.

    You compare the queries with the values, and gather the keys. Look at the order in which you hand the three on,
    or unpack them.
    """
    return _attend(query, value, key, _pattern(query, window, num_sinks))


@mistake(replaces="sink_attention", dimension="numerics")
def heads_taken_for_time(query: Tensor, key: Tensor, value: Tensor, window: int, num_sinks: int) -> Tensor:
    """You take the heads for the sequence.

    Your scores are between the heads of one position. What comes in is (batch, heads, time, dim): the positions
    are the second axis from the end already, and nothing needs to be transposed before the product.
    """
    turned = [tensor.transpose(1, 2) for tensor in (query, key, value)]
    return _attend(*turned, _pattern(turned[0], window, num_sinks)).transpose(1, 2)


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


def _pattern(tokens: Tensor, window: int, num_sinks: int) -> Tensor:
    rows, columns = _places(tokens.transpose(-2, -1))
    return (columns <= rows) & ((columns < num_sinks) | (rows - columns < window))


def _places(scores: Tensor) -> tuple[Tensor, Tensor]:
    places = torch.arange(scores.shape[-1])
    return places[:, None], places[None, :]


@mistake(replaces="normalise", dimension="numerics")
def one_more_in_the_shifted_denominator(scores: Tensor) -> Tensor:
    """You add 1 to the sum of exponentials whose scores were shifted.

    Your weights add up to less than one. Here sinks are tokens of the sequence, and the softmax stays as it is. (Where
    a 1 is wanted, it is e to the zero of a score that has to be shifted like the others.)
    """
    raised = (scores - scores.amax(dim=-1, keepdim=True)).exp()
    return raised / (1 + raised.sum(dim=-1, keepdim=True))


@mistake(replaces="sink_attention", dimension="numerics")
def recent_sinks_count_twice(query: Tensor, key: Tensor, value: Tensor, window: int, num_sinks: int) -> Tensor:
    """A sink that is recent as well counts twice.

    If you put the keys together from the sinks and from the window, a position that is in both must stand once. Near
    the beginning of a sequence that is the rule.
    """
    rows, columns = _places(query @ key.transpose(-2, -1))
    twice = (columns < num_sinks) & (rows - columns < window)
    scores = query @ key.transpose(-2, -1) / math.sqrt(key.shape[-1]) + math.log(2.0) * twice
    hidden = ~_pattern(key, window, num_sinks)
    return torch.softmax(scores.masked_fill(hidden, float("-inf")), dim=-1) @ value
