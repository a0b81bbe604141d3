"""What students get wrong in attention with relative positions."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn

from grader.exercise.families import gradients, heads, projections, scores, weights
from grader.exercise.mistakes import borrow, mistake, take

from_scores = take(scores)

from_weights = take(
    weights, except_=("sigmoid_for_softmax", "log_softmax_for_softmax", "scores_clamped", "first_sequence_for_all")
)

from_heads = take(heads)
mixes_batch_and_heads = borrow(heads.mixes_batch_and_heads, dimension="numerics")
no_output_projection = borrow(heads.no_output_projection, replaces="RelativeSelfAttention.leave")
output_bias_ignored = borrow(heads.output_bias_ignored, replaces="RelativeSelfAttention.leave")
layer_norm_slipped_in = borrow(heads.layer_norm_slipped_in, replaces="RelativeSelfAttention.leave")

keys_and_values_swapped = borrow(projections.keys_and_values_swapped, replaces="RelativeSelfAttention.project")
one_projection_for_all = borrow(projections.one_projection_for_all, replaces="RelativeSelfAttention.project")
biases_ignored = borrow(projections.biases_ignored, replaces="RelativeSelfAttention.project")
normalised_input = borrow(projections.normalised_input, replaces="RelativeSelfAttention.project")

from_gradients = take(gradients, except_=("everything_cut_off",))
input_cut_off = borrow(gradients.input_cut_off, replaces="RelativeSelfAttention.project")


@mistake(replaces="distances", dimension="numerics")
def looks_the_other_way(time: int) -> Tensor:
    """Your distances have the wrong sign.

    A key after the query gets the bias of a key before it. The distance is j - i, key minus query, so it grows along a
    row of the matrix. Transposing the two position axes of the bias has the same effect.
    """
    position = torch.arange(time)
    return position[:, None] - position[None, :]


@mistake(replaces="distances", dimension="numerics")
def signs_left_out(time: int) -> Tensor:
    """You take the distance without its sign.

    In your code a key three steps before the query gets the same bias as one three steps after it. Each has its own row
    in the table.
    """
    position = torch.arange(time)
    return (position[None, :] - position[:, None]).abs()


@mistake(replaces="distances", dimension="numerics")
def position_for_distance(time: int) -> Tensor:
    """Your bias depends on the position of the key, not on its distance to the query.

    All rows of your bias are equal. Subtract the position of the query.
    """
    return torch.arange(time).expand(time, time)


@mistake(replaces="clip", dimension="numerics")
def not_clipped(far: Tensor, max_distance: int) -> Tensor:
    """You do not clip the distances.

    Beyond max_distance the table has no row, so the lookup fails. Clip the distances to -max_distance and max_distance,
    so that keys further away share the bias of the largest distance.
    """
    return far


@mistake(replaces="clip", dimension="numerics")
def wraps_around(far: Tensor, max_distance: int) -> Tensor:
    """Your distances wrap around at the end of the table.

    With a remainder (`%`), a key one step too far gets the bias of a key on the other side. Clip the distances instead,
    so that keys further away share the bias of the largest distance.
    """
    return (far + max_distance) % (2 * max_distance + 1) - max_distance


@mistake(replaces="clip", dimension="numerics")
def clipped_one_short(far: Tensor, max_distance: int) -> Tensor:
    """You clip one step too early.

    The distances -max_distance and max_distance have their own rows: both ends are included.
    """
    return far.clamp(-max_distance + 1, max_distance - 1)


@mistake(replaces="clip", dimension="numerics")
def upper_end_left_out(far: Tensor, max_distance: int) -> Tensor:
    """You clip one step too early at the upper end.

    The table has 2·max_distance + 1 rows, and you never use the last one. The end of `range` is excluded, the bounds of
    `clamp` are included.
    """
    return far.clamp(-max_distance, max_distance - 1)


@mistake(replaces="clip", dimension="numerics")
def what_lies_ahead_is_one(far: Tensor, max_distance: int) -> Tensor:
    """All keys after the query get the bias of distance 0.

    You clip to -max_distance and 0, or to 0 and max_distance after the shift. Distances go up to max_distance, rows up
    to 2·max_distance.
    """
    return far.clamp(-max_distance, 0)


@mistake(replaces="clip", dimension="numerics")
def what_lies_behind_is_one(far: Tensor, max_distance: int) -> Tensor:
    """All keys before the query get the bias of distance 0.

    You clip to 0 and max_distance before the shift. Distances of keys before the query are negative, down to
    -max_distance.
    """
    return far.clamp(0, max_distance)


@mistake(replaces="rows_of", dimension="numerics")
def not_shifted(far: Tensor, max_distance: int) -> Tensor:
    """You look up negative rows.

    The smallest distance, -max_distance, belongs to row 0. Add max_distance to the clipped distances.
    """
    return far


@mistake(replaces="rows_of", dimension="numerics")
def counted_from_the_end(far: Tensor, max_distance: int) -> Tensor:
    """Your negative distances select rows from the end of the table.

    You use the distances as indices without a shift. Python takes index -1 as the last row, without an error. The
    smallest distance, -max_distance, belongs to row 0: add max_distance first.
    """
    return far % (2 * max_distance + 1)


@mistake(replaces="rows_of", dimension="numerics")
def shifted_one_too_little(far: Tensor, max_distance: int) -> Tensor:
    """Your shift of the distances is too small by one.

    The smallest distance, -max_distance, belongs to row 0; yours gives -1.
    """
    return far + max_distance - 1


@mistake(replaces="rows_of", dimension="numerics")
def shifted_one_too_far(far: Tensor, max_distance: int) -> Tensor:
    """Your shift of the distances is too large by one.

    The largest distance, max_distance, belongs to the last row; yours gives a row that does not exist.
    """
    return far + max_distance + 1


@mistake(replaces="look_up", dimension="numerics")
def one_bias_for_all_heads(table: nn.Embedding, rows: Tensor) -> Tensor:
    """All your heads use the biases of the first head.

    The table has one column for each head. Look for an index 0, or for a squeeze that works only with one head.
    """
    found = table(rows)
    return found[..., :1].expand_as(found)


@mistake(replaces="look_up", dimension="numerics")
def biases_averaged(table: nn.Embedding, rows: Tensor) -> Tensor:
    """You average the biases over the heads.

    The table has one column for each head, and each head uses its own.
    """
    found = table(rows)
    return found.mean(dim=-1, keepdim=True).expand_as(found)


@mistake(replaces="look_up", dimension="gradients")
def table_cut_off(table: nn.Embedding, rows: Tensor) -> Tensor:
    """No gradient reaches your table of biases.

    No output shows it, but the biases are never trained. Look for `detach()`, `.data`, `no_grad`, a frozen table, or a
    new tensor made from the table.
    """
    return table(rows).detach()


@mistake(replaces="heads_first", dimension="numerics")
def heads_by_view(bias: Tensor) -> Tensor:
    """You view the biases as (h, T, T) without moving an axis.

    The lookup gives (T, T, h). `view` and `reshape` keep the order of the numbers, so heads and distances get mixed up.
    Use `permute` to move the head axis.
    """
    return bias.reshape(bias.shape[2], bias.shape[0], bias.shape[1])


@mistake(replaces="add", dimension="numerics")
def no_bias(scores: Tensor, bias: Tensor) -> Tensor:
    """Your biases have no effect.

    Your output is that of attention without biases. If you do look them up, check that you add them to the scores and
    keep the sum.
    """
    return scores


@mistake(replaces="add", dimension="numerics")
def subtracted(scores: Tensor, bias: Tensor) -> Tensor:
    """You subtract the biases.

    Add them to the scores.
    """
    return scores - bias


@mistake(replaces="add", dimension="numerics")
def multiplied(scores: Tensor, bias: Tensor) -> Tensor:
    """You multiply the scores by the biases.

    With that, a bias of 0 makes the score 0; it should leave the score unchanged. Add the biases.
    """
    return scores * bias


@mistake(replaces="add", dimension="numerics")
def added_twice(scores: Tensor, bias: Tensor) -> Tensor:
    """You add the biases twice.

    Add them once. Look for a second line, or for a `+=` on scores that already include them.
    """
    return scores + 2 * bias


@mistake(replaces="add", dimension="numerics")
def first_head_only(scores: Tensor, bias: Tensor) -> Tensor:
    """Only your first head gets biases.

    Every head has its own column of the table. Check the axes of the tensor that you add, and along which axes it
    broadcasts.
    """
    first = torch.zeros_like(bias)
    first[0] = 1.0
    return scores + bias * first


@mistake(replaces="RelativeSelfAttention.bias", dimension="numerics")
def far_keys_without_a_bias(self: Any, time: int) -> Tensor:
    """Keys beyond max_distance get no bias in your code.

    They must share the bias of the largest distance, max_distance or -max_distance. A bias of zero is not the same.
    """
    bias, far = _bias(self, time)
    return bias.masked_fill(far, 0.0)


@mistake(replaces="RelativeSelfAttention.bias", dimension="numerics")
def far_keys_hidden(self: Any, time: int) -> Tensor:
    """You mask keys beyond max_distance.

    Every position attends to every position, at any distance. Keys beyond max_distance share the bias of the largest
    distance.
    """
    bias, far = _bias(self, time)
    return bias.masked_fill(far, float("-inf"))


@mistake(replaces="RelativeSelfAttention.weigh", dimension="numerics")
def bias_scaled_as_well(self: Any, queries: Tensor, keys: Tensor) -> Tensor:
    """You divide the biases by √d_head as well.

    Add the biases *after* the scaling. Check the order of the two steps, and your parentheses.
    """
    products = queries @ keys.transpose(-2, -1)
    return torch.softmax((products + self.bias(keys.shape[-2])) / math.sqrt(keys.shape[-1]), dim=-1)


@mistake(replaces="RelativeSelfAttention.weigh", dimension="numerics")
def bias_after_the_softmax(self: Any, queries: Tensor, keys: Tensor) -> Tensor:
    """You add the biases to the attention weights.

    After the softmax the rows no longer add up to one, and weights can be negative. Add the biases to the scores.
    """
    products = queries @ keys.transpose(-2, -1) / math.sqrt(keys.shape[-1])
    return torch.softmax(products, dim=-1) + self.bias(keys.shape[-2])


@mistake(replaces="RelativeSelfAttention.weigh", dimension="numerics")
def scaled_after_the_softmax(self: Any, queries: Tensor, keys: Tensor) -> Tensor:
    """You divide by √d_head after the softmax.

    Your weights no longer add up to one, and the softmax itself gets unscaled scores. Divide the products, before you
    add the biases.
    """
    products = queries @ keys.transpose(-2, -1)
    return torch.softmax(products + self.bias(keys.shape[-2]), dim=-1) / math.sqrt(keys.shape[-1])


@mistake(replaces="RelativeSelfAttention.forward", dimension="numerics")
def returns_weights_without_bias(self: Any, x: Tensor) -> tuple[Tensor, Tensor]:
    """You return attention weights computed without the biases.

    Your output is right. Return the same weights that you multiply by the values.
    """
    queries, keys, values = _split(self, x)
    return _joined(self, self.weigh(queries, keys) @ values), torch.softmax(_scores(queries, keys), dim=-1)


@mistake(replaces="RelativeSelfAttention.forward", dimension="numerics")
def returns_the_scores(self: Any, x: Tensor) -> tuple[Tensor, Tensor]:
    """You return the scores instead of the attention weights.

    Your output is right. The second return value must be the attention weights, after the softmax; yours are the scores
    before it.
    """
    queries, keys, values = _split(self, x)
    return _joined(self, self.weigh(queries, keys) @ values), _scores(queries, keys) + self.bias(x.shape[1])


@mistake(replaces="RelativeSelfAttention.forward", dimension="numerics")
def adds_the_input(self: Any, x: Tensor) -> tuple[Tensor, Tensor]:
    """You add the input to the output.

    A residual connection is part of a Transformer block, outside the attention layer. This module returns the result of
    the output projection.
    """
    queries, keys, values = _split(self, x)
    weights = self.weigh(queries, keys)
    return x + _joined(self, weights @ values), weights


@mistake(replaces="hand_back", dimension="shapes")
def weights_first(output: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """You return the weights first and the output second.

    Both are there, but in the wrong order. The exercise asks for `(output, weights)`: check your `return`.
    """
    return weights, output


@mistake(replaces="hand_back", dimension="shapes")
def weights_forgotten(output: Tensor, weights: Tensor) -> Tensor:
    """You return only the output.

    Return two tensors: the output, and the attention weights of every head.
    """
    return output


@mistake(replaces="hand_back", dimension="shapes")
def returned_weights_averaged(output: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """The attention weights that you return have no head axis.

    Return the weights of every head, (B, h, T, T): do not average them, and do not pick one head.
    """
    return output, weights.mean(dim=1)


@mistake(replaces="hand_back", dimension="shapes")
def time_before_batch(output: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """You return time before batch.

    The batch axis comes first, in the input and in the output. Look for a transpose of the first two axes.
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
