"""What students get wrong when they wrap several heads in one module."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from grader.exercise.families import gradients, projections, scores, weights
from grader.exercise.mistakes import borrow, mistake, take

from_scores = take(scores, except_=("keys_meet_keys",), also=("scaled_by_the_fourth_root",))
from_weights = take(
    weights,
    except_=("shifted_by_the_largest_of_all", "epsilon_in_the_denominator"),
    also=("softmax_over_all_pairs", "mean_of_the_values", "averages_over_time"),
)
mixes_the_keys = borrow(projections.mixes_the_keys, replaces="SelfAttention.project", dimension="shapes")
keys_and_values_swapped = borrow(
    projections.keys_and_values_swapped, replaces="SelfAttention.project", dimension="shapes"
)
mixes_the_inputs = borrow(projections.mixes_the_inputs, replaces="SelfAttention.project")
input_cut_off = borrow(gradients.input_cut_off, replaces="SelfAttention.project")
from_gradients = take(gradients)


@mistake(replaces="SelfAttention.weigh", dimension="numerics")
def scaled_by_the_value_width(self: Any, queries: Tensor, keys: Tensor) -> Tensor:
    """You divide the scores by the square root of the value width.

    A score is a dot product of a query and a key, so its magnitude grows with d_out_kq. d_out_v plays no part in it.
    """
    return torch.softmax(queries @ keys.T / math.sqrt(self.W_value.shape[-1]), dim=-1)


@mistake(replaces="SelfAttention.weigh", dimension="numerics")
def scaled_by_the_input_width(self: Any, queries: Tensor, keys: Tensor) -> Tensor:
    """You divide the scores by the square root of the input width.

    A score is a dot product of two vectors of width d_out_kq. The width of x before the projection plays no part in it.
    """
    return torch.softmax(queries @ keys.T / math.sqrt(self.W_query.shape[0]), dim=-1)


@mistake(replaces="SelfAttention.weigh", dimension="numerics")
def scaled_after_the_softmax(self: Any, queries: Tensor, keys: Tensor) -> Tensor:
    """You divide by the square root of the key width after the softmax.

    Your weights no longer add up to one, and the softmax itself gets unscaled scores. Divide the scores, before the
    softmax.
    """
    return torch.softmax(queries @ keys.T, dim=-1) / math.sqrt(keys.shape[-1])


@mistake(replaces="SelfAttention.weigh", dimension="numerics")
def hides_the_future(self: Any, queries: Tensor, keys: Tensor) -> Tensor:
    """You mask later positions, which this exercise does not ask for.

    Here every position attends to the whole sequence. Remove the causal mask.
    """
    table = queries @ keys.T / math.sqrt(keys.shape[-1])
    future = torch.ones_like(table, dtype=torch.bool).triu(diagonal=1)
    return torch.softmax(table.masked_fill(future, float("-inf")), dim=-1)


@mistake(replaces="MultiHeadAttentionWrapper.attend", dimension="numerics")
def scaled_by_the_width_of_all_heads(self: Any, x: Tensor) -> list[Tensor]:
    """You divide the scores by the square root of the total width of all heads.

    That width is num_heads · d_out_kq. A score is a dot product of two vectors of width d_out_kq.
    """
    parts = [head.project(x) for head in self.heads]
    return [_attend(q, k, v, len(parts) * k.shape[-1]) for q, k, v in parts]


@mistake(replaces="MultiHeadAttentionWrapper.attend", dimension="numerics")
def scaled_by_the_number_of_heads(self: Any, x: Tensor) -> list[Tensor]:
    """You divide the scores by the square root of the number of heads.

    Use the width of one head's keys instead. Check which size you take the square root of.
    """
    parts = [head.project(x) for head in self.heads]
    return [_attend(q, k, v, len(parts)) for q, k, v in parts]


@mistake(replaces="MultiHeadAttentionWrapper.attend", dimension="numerics")
def all_heads_as_one(self: Any, x: Tensor) -> list[Tensor]:
    """All your heads share one matrix of attention weights.

    You sum the products of all heads before the softmax, which makes one wide head. Each head needs its own scores and
    its own softmax, so split queries and keys as well as values.
    """
    queries, keys, values = zip(*(head.project(x) for head in self.heads), strict=True)
    wide_queries, wide_keys = torch.cat(queries, dim=-1), torch.cat(keys, dim=-1)
    return [_attend(wide_queries, wide_keys, torch.cat(values, dim=-1), wide_keys.shape[-1])]


@mistake(replaces="MultiHeadAttentionWrapper.attend", dimension="numerics")
def softmax_over_heads(self: Any, x: Tensor) -> list[Tensor]:
    """Your softmax runs over the heads.

    If you stack the heads along axis 0, that axis counts heads. Which axis of the scores counts the keys?
    """
    parts = [head.project(x) for head in self.heads]
    table = torch.stack([q @ k.T / math.sqrt(k.shape[-1]) for q, k, _ in parts])
    return [weights @ v for weights, (_, _, v) in zip(torch.softmax(table, dim=0), parts, strict=True)]


@mistake(replaces="MultiHeadAttentionWrapper.attend", dimension="numerics")
def weights_of_the_first_head(self: Any, x: Tensor) -> list[Tensor]:
    """All your heads use the attention weights of the first head.

    Each head has its own queries and keys, so it has its own weights. Look for an index 0, or a loop that never uses
    its index.
    """
    queries, keys, _ = self.heads[0].project(x)
    return [_attend(queries, keys, head.project(x)[2], keys.shape[-1]) for head in self.heads]


@mistake(replaces="MultiHeadAttentionWrapper.attend", dimension="numerics")
def weights_averaged_over_heads(self: Any, x: Tensor) -> list[Tensor]:
    """You average the attention weights over the heads before you use them.

    All heads then attend in the same way. Use each head's own weights.
    """
    parts = [head.project(x) for head in self.heads]
    mean = torch.stack([head.weigh(q, k) for head, (q, k, _) in zip(self.heads, parts, strict=True)]).mean(dim=0)
    return [mean @ v for _, _, v in parts]


@mistake(replaces="MultiHeadAttentionWrapper.attend", dimension="numerics")
def first_head_for_all(self: Any, x: Tensor) -> list[Tensor]:
    """Your output repeats the first head.

    Each head has its own features in the output. Look for an index 0, or a loop that never uses its index.
    """
    return [self.heads[0](x) for _ in self.heads]


@mistake(replaces="make_heads", dimension="numerics")
def one_head_many_times(num_heads: int, make: Callable[[], nn.Module]) -> list[nn.Module]:
    """All your heads are the same module.

    `[head] * n` is a list that contains the same head n times, so all of them share their parameters. Create a new head
    for each entry.
    """
    return [make()] * num_heads


@mistake(replaces="join", dimension="shapes")
def heads_added(contexts: list[Tensor]) -> Tensor:
    """Your output is only as wide as one head.

    Every head has its own features in the output, num_heads · d_out_v in all. Concatenate the heads; do not add or
    average them, and do not pick one.
    """
    return torch.stack(contexts).sum(dim=0)


@mistake(replaces="join", dimension="shapes")
def heads_stacked(contexts: list[Tensor]) -> Tensor:
    """You stack the heads along a new axis.

    Your output is (num_heads, T, d_out_v). Concatenate along the features instead: (T, num_heads · d_out_v).
    """
    return torch.stack(contexts)


@mistake(replaces="join", dimension="shapes")
def heads_one_below_the_other(contexts: list[Tensor]) -> Tensor:
    """You concatenate the heads along the time axis.

    Your output has num_heads · T rows, as if the sequence were longer. Concatenate along the feature axis.
    """
    return torch.cat(contexts, dim=0)


@mistake(replaces="join", dimension="numerics")
def heads_interleaved(contexts: list[Tensor]) -> Tensor:
    """Your heads are interleaved in the output.

    You put the first feature of every head first, then the second of every head. The output should hold all features of
    head 0, then all of head 1. Check the order of the last two axes before you flatten them.
    """
    return torch.stack(contexts, dim=-1).flatten(-2)


@mistake(replaces="join", dimension="numerics")
def merged_without_transpose(contexts: list[Tensor]) -> Tensor:
    """A row of your output holds several tokens of one head.

    It must hold one token of all heads; the shape fits all the same. Move the head axis next to the features before you
    reshape, or concatenate the heads along the last axis.
    """
    return torch.stack(contexts).reshape(len(contexts[0]), -1)


@mistake(replaces="join", dimension="numerics")
def heads_in_reverse(contexts: list[Tensor]) -> Tensor:
    """Your heads are in reverse order in the output.

    The features of head 0 come first, those of the last head last. Look for a `flip`, a negative step, or a list that
    you prepend to.
    """
    return torch.cat(contexts[::-1], dim=-1)


@mistake(replaces="join", dimension="gradients")
def only_the_first_head_learns(contexts: list[Tensor]) -> Tensor:
    """Only the first of your heads gets a gradient.

    No output shows it, but the other heads are never trained. Look for `detach()`, `.data` or `no_grad` where you
    collect the outputs, or for a tensor that you fill head by head.
    """
    return torch.cat([contexts[0], *(context.detach() for context in contexts[1:])], dim=-1)


def _attend(queries: Tensor, keys: Tensor, values: Tensor, under_the_root: int) -> Tensor:
    return torch.softmax(queries @ keys.T / math.sqrt(under_the_root), dim=-1) @ values
