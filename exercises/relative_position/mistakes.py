"""What students get wrong in attention with relative positions."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn

from grader.exercise.families import gradients, heads, projections, scores, weights
from grader.exercise.mistakes import borrow, mistake

no_scaling = scores.no_scaling
scaled_by_half_the_width = scores.scaled_by_half_the_width
scaled_by_twice_the_width = scores.scaled_by_twice_the_width
scaled_by_the_rounded_root = scores.scaled_by_the_rounded_root
halved = scores.halved
scaled_by_the_width_itself = scores.scaled_by_the_width_itself
multiplied_by_the_root = scores.multiplied_by_the_root
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
overflowing_softmax = weights.overflowing_softmax
shifted_by_the_largest_of_all = weights.shifted_by_the_largest_of_all
epsilon_in_the_denominator = weights.epsilon_in_the_denominator
hides_the_future = weights.hides_the_future
weights_transposed = weights.weights_transposed
every_head_the_first = weights.every_head_the_first
weights_averaged_over_heads = weights.weights_averaged_over_heads

splits_without_transpose = heads.splits_without_transpose
deals_features_out = heads.deals_features_out
mixes_batch_and_heads = borrow(heads.mixes_batch_and_heads, dimension="numerics")
merges_without_transpose = heads.merges_without_transpose
merges_features_before_heads = heads.merges_features_before_heads
no_output_projection = borrow(heads.no_output_projection, replaces="RelativeSelfAttention.leave")
output_bias_ignored = borrow(heads.output_bias_ignored, replaces="RelativeSelfAttention.leave")
layer_norm_slipped_in = borrow(heads.layer_norm_slipped_in, replaces="RelativeSelfAttention.leave")

keys_and_values_swapped = borrow(projections.keys_and_values_swapped, replaces="RelativeSelfAttention.project")
one_projection_for_all = borrow(projections.one_projection_for_all, replaces="RelativeSelfAttention.project")
biases_ignored = borrow(projections.biases_ignored, replaces="RelativeSelfAttention.project")
normalised_input = borrow(projections.normalised_input, replaces="RelativeSelfAttention.project")

weights_cut_off = gradients.weights_cut_off
values_cut_off = gradients.values_cut_off
keys_cut_off = gradients.keys_cut_off
queries_cut_off = gradients.queries_cut_off
sum_cut_off = gradients.sum_cut_off
input_cut_off = borrow(gradients.input_cut_off, replaces="RelativeSelfAttention.project")


@mistake(replaces="distances", dimension="numerics")
def looks_the_other_way(time: int) -> Tensor:
    """Your distances have the wrong sign.

    A key that lies ahead gets the bias of one that lies behind. The distance is j - i, key minus query: along a row of
    the table, where the key moves on, it grows. Two axes of the bias that changed places look the same.
    """
    position = torch.arange(time)
    return position[:, None] - position[None, :]


@mistake(replaces="distances", dimension="numerics")
def signs_left_out(time: int) -> Tensor:
    """You take the distance without its sign.

    Three steps back and three steps ahead get the same bias in yours. They have rows of their own in the table.
    """
    position = torch.arange(time)
    return (position[None, :] - position[:, None]).abs()


@mistake(replaces="distances", dimension="numerics")
def position_for_distance(time: int) -> Tensor:
    """Your bias depends on where the key stands, not on how far away it is.

    The position of the query is missing: every row of your bias is the same. Subtract it.
    """
    return torch.arange(time).expand(time, time)


@mistake(replaces="clip", dimension="numerics")
def not_clipped(far: Tensor, max_distance: int) -> Tensor:
    """You do not clip the distances.

    Beyond max_distance there is no row left in the table, and the lookup fails. Farther keys share the bias of the
    farthest distance that has one, so that any sequence will do, however long.
    """
    return far


@mistake(replaces="clip", dimension="numerics")
def wraps_around(far: Tensor, max_distance: int) -> Tensor:
    """Your distances begin again where the table ends.

    A remainder (`%`) gives a key that is one step too far the bias of one on the other side. Far keys keep the bias of
    the farthest distance: that is clipping.
    """
    return (far + max_distance) % (2 * max_distance + 1) - max_distance


@mistake(replaces="clip", dimension="numerics")
def clipped_one_short(far: Tensor, max_distance: int) -> Tensor:
    """You clip one step too early.

    The distances -max_distance and max_distance have rows of their own: both ends belong to the range.
    """
    return far.clamp(-max_distance + 1, max_distance - 1)


@mistake(replaces="clip", dimension="numerics")
def upper_end_left_out(far: Tensor, max_distance: int) -> Tensor:
    """You clip one step too early, at the upper end.

    The table has 2·max_distance + 1 rows; the last of yours is never used. `range` leaves its end out, `clamp` does
    not.
    """
    return far.clamp(-max_distance, max_distance - 1)


@mistake(replaces="clip", dimension="numerics")
def what_lies_ahead_is_one(far: Tensor, max_distance: int) -> Tensor:
    """All keys that lie ahead have the same bias in yours, that of distance 0.

    You clip to the range from -max_distance to 0, or from 0 to max_distance after the shift. Distances go up to
    max_distance, and rows up to twice that.
    """
    return far.clamp(-max_distance, 0)


@mistake(replaces="clip", dimension="numerics")
def what_lies_behind_is_one(far: Tensor, max_distance: int) -> Tensor:
    """All keys that lie behind have the same bias in yours, that of distance 0.

    You clip to the range from 0 to max_distance before the shift. Distances are negative for what lies behind, down to
    -max_distance.
    """
    return far.clamp(0, max_distance)


@mistake(replaces="rows_of", dimension="numerics")
def not_shifted(far: Tensor, max_distance: int) -> Tensor:
    """You look up negative rows.

    The smallest distance, -max_distance, has row 0. Distances become rows by adding something to them.
    """
    return far


@mistake(replaces="rows_of", dimension="numerics")
def counted_from_the_end(far: Tensor, max_distance: int) -> Tensor:
    """Your negative distances take their rows from the end of the table.

    You use the distances as they are. Indexing takes -1 for the last row without a word, so distance 0 has row 0 in
    yours. The smallest distance, -max_distance, has row 0: add something to the distances first.
    """
    return far % (2 * max_distance + 1)


@mistake(replaces="rows_of", dimension="numerics")
def shifted_one_too_little(far: Tensor, max_distance: int) -> Tensor:
    """You shift the distances by one too little.

    The smallest distance, -max_distance, must come to row 0. In yours it comes to -1.
    """
    return far + max_distance - 1


@mistake(replaces="rows_of", dimension="numerics")
def shifted_one_too_far(far: Tensor, max_distance: int) -> Tensor:
    """You shift the distances by one too much.

    The largest distance, max_distance, must come to the last row. In yours it comes to one that the table does not
    have.
    """
    return far + max_distance + 1


@mistake(replaces="look_up", dimension="numerics")
def one_bias_for_all_heads(table: nn.Embedding, rows: Tensor) -> Tensor:
    """All your heads use the biases of the first.

    The table has a column for each head. Look for an index 0, or for a squeeze that was meant for one head.
    """
    found = table(rows)
    return found[..., :1].expand_as(found)


@mistake(replaces="look_up", dimension="numerics")
def biases_averaged(table: nn.Embedding, rows: Tensor) -> Tensor:
    """You average the biases over the heads.

    The table has a column for each head, and each head uses its own.
    """
    found = table(rows)
    return found.mean(dim=-1, keepdim=True).expand_as(found)


@mistake(replaces="look_up", dimension="gradients")
def table_cut_off(table: nn.Embedding, rows: Tensor) -> Tensor:
    """No gradient reaches your table of biases.

    The output is right, but the biases are never learned. Look for `detach()`, `.data`, `no_grad`, a table that is
    frozen, or a new tensor made from it.
    """
    return table(rows).detach()


@mistake(replaces="heads_first", dimension="numerics")
def heads_by_view(bias: Tensor) -> Tensor:
    """You view your biases as (h, T, T) without moving an axis.

    The lookup gives (T, T, h). A view or reshape keeps the order of the numbers, so heads and distances are mixed up.
    Which operation moves an axis?
    """
    return bias.reshape(bias.shape[2], bias.shape[0], bias.shape[1])


@mistake(replaces="add", dimension="numerics")
def no_bias(scores: Tensor, bias: Tensor) -> Tensor:
    """Your biases have no effect.

    Your output is what plain attention gives. You may have the table, but nothing of it is in the scores; a sum that is
    not kept changes nothing.
    """
    return scores


@mistake(replaces="add", dimension="numerics")
def subtracted(scores: Tensor, bias: Tensor) -> Tensor:
    """You subtract the biases.

    The contract adds them to the scores.
    """
    return scores - bias


@mistake(replaces="add", dimension="numerics")
def multiplied(scores: Tensor, bias: Tensor) -> Tensor:
    """You multiply the scores by the biases.

    A bias of 0 would then make a score 0, where it has to leave it alone. Biases are added.
    """
    return scores * bias


@mistake(replaces="add", dimension="numerics")
def added_twice(scores: Tensor, bias: Tensor) -> Tensor:
    """You add the biases twice.

    Once is asked for. Look for a second line, or for a `+=` on scores that have them already.
    """
    return scores + 2 * bias


@mistake(replaces="add", dimension="numerics")
def first_head_only(scores: Tensor, bias: Tensor) -> Tensor:
    """Your first head alone gets its biases.

    Every head has a column of the table. Check the axes of what you add, and along which of them it is repeated.
    """
    first = torch.zeros_like(bias)
    first[0] = 1.0
    return scores + bias * first


@mistake(replaces="RelativeSelfAttention.bias", dimension="numerics")
def far_keys_without_a_bias(self: Any, time: int) -> Tensor:
    """You give keys beyond max_distance no bias at all.

    They share the bias of the farthest distance that has a row. Zero is a bias like any other, and not that one.
    """
    bias, far = _bias(self, time)
    return bias.masked_fill(far, 0.0)


@mistake(replaces="RelativeSelfAttention.bias", dimension="numerics")
def far_keys_hidden(self: Any, time: int) -> Tensor:
    """You hide keys beyond max_distance.

    Every position may see every other one, however far away. Keys beyond max_distance share the bias of the farthest
    distance that has a row.
    """
    bias, far = _bias(self, time)
    return bias.masked_fill(far, float("-inf"))


@mistake(replaces="RelativeSelfAttention.weigh", dimension="numerics")
def bias_scaled_as_well(self: Any, queries: Tensor, keys: Tensor) -> Tensor:
    """You divide the biases by √d_head along with the products.

    The biases are added *after* the scaling. Look at the order of the two lines, and at your brackets.
    """
    products = queries @ keys.transpose(-2, -1)
    return torch.softmax((products + self.bias(keys.shape[-2])) / math.sqrt(keys.shape[-1]), dim=-1)


@mistake(replaces="RelativeSelfAttention.weigh", dimension="numerics")
def bias_after_the_softmax(self: Any, queries: Tensor, keys: Tensor) -> Tensor:
    """You add the biases to the weights.

    After the softmax it is too late: your rows no longer add up to one, and weights may be negative. The biases belong
    to the scores.
    """
    products = queries @ keys.transpose(-2, -1) / math.sqrt(keys.shape[-1])
    return torch.softmax(products, dim=-1) + self.bias(keys.shape[-2])


@mistake(replaces="RelativeSelfAttention.weigh", dimension="numerics")
def scaled_after_the_softmax(self: Any, queries: Tensor, keys: Tensor) -> Tensor:
    """You divide by the root of a head's width after the softmax.

    Then your weights no longer add up to one, and they are as sharp as without any scaling. The division belongs to the
    products, before the biases are added.
    """
    products = queries @ keys.transpose(-2, -1)
    return torch.softmax(products + self.bias(keys.shape[-2]), dim=-1) / math.sqrt(keys.shape[-1])


@mistake(replaces="RelativeSelfAttention.forward", dimension="numerics")
def returns_weights_without_bias(self: Any, x: Tensor) -> tuple[Tensor, Tensor]:
    """You return weights from before the biases were added.

    Your output is right. Return the very weights that you multiply with the values.
    """
    queries, keys, values = _split(self, x)
    return _joined(self, self.weigh(queries, keys) @ values), torch.softmax(_scores(queries, keys), dim=-1)


@mistake(replaces="RelativeSelfAttention.forward", dimension="numerics")
def returns_the_scores(self: Any, x: Tensor) -> tuple[Tensor, Tensor]:
    """You return the scores in place of the weights.

    Your output is right. The second thing to return are the weights, after the softmax: what you return there is what
    goes into it.
    """
    queries, keys, values = _split(self, x)
    return _joined(self, self.weigh(queries, keys) @ values), _scores(queries, keys) + self.bias(x.shape[1])


@mistake(replaces="RelativeSelfAttention.forward", dimension="numerics")
def adds_the_input(self: Any, x: Tensor) -> tuple[Tensor, Tensor]:
    """You add the input to the output.

    A residual connection is part of a transformer block, round attention. This module returns what the output
    projection gives.
    """
    queries, keys, values = _split(self, x)
    weights = self.weigh(queries, keys)
    return x + _joined(self, weights @ values), weights


@mistake(replaces="hand_back", dimension="shapes")
def weights_first(output: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """You return the weights first and the output second.

    Both are there, in the other order. The contract is `(output, weights)`; look at your last line.
    """
    return weights, output


@mistake(replaces="hand_back", dimension="shapes")
def weights_forgotten(output: Tensor, weights: Tensor) -> Tensor:
    """You return the output alone.

    Two things are asked for, the output and the weights of every head.
    """
    return output


@mistake(replaces="hand_back", dimension="shapes")
def returned_weights_averaged(output: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """You average the weights over the heads before you return them.

    The weights of every head are asked for, (B, h, T, T); yours have lost the head axis.
    """
    return output, weights.mean(dim=1)


@mistake(replaces="hand_back", dimension="shapes")
def time_before_batch(output: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """You return time before batch.

    The batch comes first in what you are given, and so it does in what you return. Look for a transpose of the first
    two axes.
    """
    return output.transpose(0, 1), weights


def _bias(self: Any, time: int) -> tuple[Tensor, Tensor]:
    """Return the biases (h, T, T), and where the distance is beyond max_distance (T, T)."""
    position, reach = torch.arange(time), self.max_distance
    far = position[None, :] - position[:, None]
    return self.relative_bias(far.clamp(-reach, reach) + reach).permute(2, 0, 1), far.abs() > reach


def _scores(queries: Tensor, keys: Tensor) -> Tensor:
    return queries @ keys.transpose(-2, -1) / math.sqrt(keys.shape[-1])


def _split(self: Any, x: Tensor) -> list[Tensor]:
    return [part.unflatten(2, (self.num_heads, -1)).transpose(1, 2) for part in self.project(x)]


def _joined(self: Any, context: Tensor) -> Tensor:
    joined: Tensor = self.leave(context.transpose(1, 2).flatten(2))
    return joined
