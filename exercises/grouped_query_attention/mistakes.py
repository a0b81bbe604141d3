"""What students get wrong in grouped-query attention."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from grader.exercise.families import causal, gradients, heads, projections, scores, weights
from grader.exercise.mistakes import borrow, mistake, take

from_scores = take(scores, except_=("halved",))

from_weights = take(
    weights,
    except_=(
        "no_softmax",
        "sigmoid_for_softmax",
        "log_softmax_for_softmax",
        "scores_clamped",
        "first_sequence_for_all",
    ),
)
weights_transposed = borrow(weights.weights_transposed, dimension="masking")

from_causal = take(causal, except_=("a_number_added_to_the_future", "masks_the_first_sequence_only"))
masks_after_the_softmax = borrow(causal.masks_after_the_softmax, replaces="GroupedQueryAttention.weigh")
scaled_after_the_softmax = borrow(causal.scaled_after_the_softmax, replaces="GroupedQueryAttention.weigh")

from_heads = take(heads)
no_output_projection = borrow(heads.no_output_projection, replaces="GroupedQueryAttention.leave")

keys_and_values_swapped = borrow(projections.keys_and_values_swapped, replaces="GroupedQueryAttention.project")
mixes_the_keys = borrow(projections.mixes_the_keys, replaces="GroupedQueryAttention.project")

from_gradients = take(gradients, except_=("everything_cut_off",))
input_cut_off = borrow(gradients.input_cut_off, replaces="GroupedQueryAttention.project")


@mistake(replaces="share", dimension="numerics")
def tiles_the_heads(heads: Tensor, num_heads: int) -> Tensor:
    """Your query heads alternate between key heads; neighbours must share.

    Your query head i uses key head i % g, so key heads come as 0, 1, 0, 1. It must use key head i // (h / g): each key
    head serves a group of neighbours, 0, 0, 1, 1, as `repeat_interleave` lays them out.
    """
    return heads.repeat(1, num_heads // heads.shape[1], 1, 1)


@mistake(replaces="share", dimension="numerics")
def shares_in_reverse(heads: Tensor, num_heads: int) -> Tensor:
    """Your groups use the key and value heads in reverse order.

    The first group of query heads must use the first key and value head. Look for a `flip` or a negative step.
    """
    return heads.flip(1).repeat_interleave(num_heads // heads.shape[1], dim=1)


@mistake(replaces="share", dimension="numerics")
def first_head_for_every_group(heads: Tensor, num_heads: int) -> Tensor:
    """All your query heads use the first key and value head.

    That is right only if there is just one. Look for an index 0, or for an `expand` that needs an axis of size 1.
    """
    return heads[:, :1].expand(-1, num_heads, -1, -1)


@mistake(replaces="share", dimension="numerics")
def averages_the_shared_heads(heads: Tensor, num_heads: int) -> Tensor:
    """You average the key and value heads before you share them.

    Averaging is how an existing multi-head model is converted, once, in its parameters. Here each group uses its own
    key and value head.
    """
    return heads.mean(dim=1, keepdim=True).expand(-1, num_heads, -1, -1)


@mistake(replaces="share", dimension="shapes")
def repeats_the_sequence(heads: Tensor, num_heads: int) -> Tensor:
    """You repeat positions instead of heads.

    After the split, axis 1 is the head axis and axis 2 is the time axis. Check the order of the axes where you repeat,
    and along which axis you repeat.
    """
    return heads.repeat_interleave(num_heads // heads.shape[1], dim=2)


@mistake(replaces="share", dimension="shapes")
def shares_nothing(heads: Tensor, num_heads: int) -> Tensor:
    """You multiply query heads by fewer key heads without sharing them.

    The numbers of heads differ, so the product fails unless there is only one key head. Each key and value head must
    serve a whole group of query heads.
    """
    return heads


@mistake(replaces="GroupedQueryAttention.share_out", dimension="numerics")
def tiles_the_keys_only(self: Any, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
    """You share keys and values in different ways.

    Neighbouring query heads share values, but they alternate between key heads. A query head then uses the keys of one
    head and the values of another. Compare the two lines.
    """
    times = self.num_heads // self.num_kv_heads
    return keys.repeat(1, times, 1, 1), values.repeat_interleave(times, dim=1)


@mistake(replaces="GroupedQueryAttention.share_out", dimension="numerics")
def tiles_the_values_only(self: Any, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
    """You share values and keys in different ways.

    Neighbouring query heads share keys, but they alternate between value heads. A query head then uses the keys of one
    head and the values of another. Compare the two lines.
    """
    times = self.num_heads // self.num_kv_heads
    return keys.repeat_interleave(times, dim=1), values.repeat(1, times, 1, 1)


@mistake(replaces="GroupedQueryAttention.weigh", dimension="numerics")
def scaled_by_the_width_of_the_shared_heads(self: Any, queries: Tensor, keys: Tensor) -> Tensor:
    """You divide the scores by the root of the total width of all key heads.

    W_key produces several heads side by side. A score is a dot product of two vectors that are as wide as *one* head.
    """
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(self.W_key.out_features)
    hidden = torch.ones_like(scores, dtype=torch.bool).triu(diagonal=1)
    return torch.softmax(scores.masked_fill(hidden, float("-inf")), dim=-1)


@mistake(replaces="hide_future", dimension="masking")
def hides_what_it_may_see(scores: Tensor) -> Tensor:
    """You mask the allowed positions and show the forbidden ones.

    Your triangle has ones at the allowed positions, and `masked_fill` fills where its mask is one. The last position
    then attends to nothing: a softmax over no keys is NaN.
    """
    return scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).tril(), float("-inf"))


@mistake(replaces="GroupedQueryAttention.forward", dimension="numerics")
def adds_the_input(self: Any, x: Tensor) -> Tensor:
    """You add the input to the output.

    A residual connection is part of the transformer block around the attention. This module returns the result of the
    output projection only.
    """
    queries, keys, values = self.cut(*self.project(x))
    keys, values = self.share_out(keys, values)
    return x + self.leave(self.gather(self.weigh(queries, keys), values).transpose(1, 2).flatten(2))


@mistake(replaces="GroupedQueryAttention.leave", dimension="shapes")
def time_before_batch(self: Any, context: Tensor) -> Tensor:
    """You return the time axis before the batch axis.

    Input and output both have the batch axis first. Look for a transpose of the first two axes.
    """
    return self.W_out(context).transpose(0, 1)


@mistake(replaces="GroupedQueryAttention.weigh", dimension="numerics")
def scaled_by_the_width_of_a_group(self: Any, queries: Tensor, keys: Tensor) -> Tensor:
    """You divide the scores by the root of `d_model / num_kv_heads`.

    That is the total width of all query heads of a group. A key head is as wide as one query head, `d_model /
    num_heads`; there are only fewer of them.
    """
    width = keys.shape[-1] * self.num_heads // self.num_kv_heads
    found = queries @ keys.transpose(-2, -1) / math.sqrt(width)
    future = torch.ones_like(found, dtype=torch.bool).triu(diagonal=1)
    return torch.softmax(found.masked_fill(future, float("-inf")), dim=-1)


@mistake(replaces="GroupedQueryAttention.gather", dimension="numerics")
def groups_behind_their_members(self: Any, weights: Tensor, values: Tensor) -> Tensor:
    """You merge the heads of all groups in the wrong order.

    Your output starts with the first head of every group, then the second head of every group. The right order is head
    0, head 1, and so on, so the heads of one group are neighbours. Check the order of the two axes, groups and heads
    within a group, that you merge.
    """
    heads = weights @ values
    return heads.unflatten(1, (self.num_kv_heads, -1)).transpose(1, 2).flatten(1, 2)


@mistake(replaces="GroupedQueryAttention.cut", dimension="numerics")
def members_before_groups(self: Any, queries: Tensor, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """You split the query heads into groups in the wrong order.

    Consecutive query heads form a group. When your `view` splits the head axis in two, the groups come first and the
    heads within a group second.
    """
    batch, time, _ = queries.shape
    cut = [part.view(batch, time, -1, queries.shape[-1] // self.num_heads) for part in (queries, keys, values)]
    found, own, mixed = (part.transpose(1, 2) for part in cut)
    return found.unflatten(1, (-1, self.num_kv_heads)).transpose(1, 2).flatten(1, 2), own, mixed
