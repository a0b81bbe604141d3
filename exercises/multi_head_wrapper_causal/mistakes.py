"""What students get wrong when they wrap several causal heads in one module."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from grader.exercise.families import causal, dropouts, gradients, projections, scores, weights
from grader.exercise.mistakes import borrow, mistake, take

from_scores = take(scores, except_=("keys_meet_keys",))
scaled_by_the_input_width = borrow(projections.scaled_by_the_input_width, replaces="CausalAttention.project")
from_causal = take(causal, except_=("sees_itself_only", "fills_with_minus_twenty", "axes_too_many", "adds_the_mask"))
zeros_taken_for_hidden = borrow(causal.zeros_taken_for_hidden, dimension="numerics")
masks_after_the_softmax = borrow(causal.masks_after_the_softmax, replaces="CausalAttention.weigh")
scaled_after_the_softmax = borrow(causal.scaled_after_the_softmax, replaces="CausalAttention.weigh")
softmax_over_queries = weights.softmax_over_queries
softmax_over_the_first_axis = weights.softmax_over_the_first_axis
overflowing_softmax = weights.overflowing_softmax
weights_transposed = borrow(weights.weights_transposed, dimension="masking")
time_before_batch = weights.time_before_batch
keys_and_values_swapped = borrow(projections.keys_and_values_swapped, replaces="CausalAttention.project")
biases_ignored = borrow(projections.biases_ignored, replaces="CausalAttention.project")
from_dropouts = take(dropouts, except_=("scales_in_eval",))
drops_the_output = borrow(dropouts.drops_the_output, replaces="CausalAttention.gather")
drops_the_values = borrow(dropouts.drops_the_values, replaces="CausalAttention.gather")
weights_cut_off = gradients.weights_cut_off
keys_cut_off = gradients.keys_cut_off
values_cut_off = gradients.values_cut_off
input_cut_off = borrow(gradients.input_cut_off, replaces="CausalAttention.project")


@mistake(replaces="MultiHeadAttentionWrapper.attend", dimension="numerics")
def scaled_by_the_width_of_all_heads(self: Any, x: Tensor) -> list[Tensor]:
    """You divide the scores by the square root of the total width of all heads.

    That width is num_heads · d_out. A score is a dot product of two vectors of width d_out.
    """
    return [_causal(head, x, head.W_key.out_features * len(self.heads)) for head in self.heads]


@mistake(replaces="MultiHeadAttentionWrapper.attend", dimension="numerics")
def scaled_as_if_heads_shared_d_out(self: Any, x: Tensor) -> list[Tensor]:
    """You divide the scores by √(d_out / num_heads).

    d_out / num_heads is the width of a head when all heads together have width d_out. Here d_out is the width of one
    head.
    """
    return [_causal(head, x, head.W_key.out_features / len(self.heads)) for head in self.heads]


@mistake(replaces="MultiHeadAttentionWrapper.attend", dimension="numerics")
def scaled_by_the_number_of_heads(self: Any, x: Tensor) -> list[Tensor]:
    """You divide the scores by the square root of the number of heads.

    Use the width of one head instead. Check which size you take the square root of.
    """
    return [_causal(head, x, len(self.heads)) for head in self.heads]


@mistake(replaces="MultiHeadAttentionWrapper.attend", dimension="numerics")
def all_heads_as_one(self: Any, x: Tensor) -> list[Tensor]:
    """All your heads share one matrix of attention weights.

    You sum the products of all heads before the softmax, which makes one wide head. Each head needs its own scores and
    its own softmax, so split queries and keys as well as values.
    """
    queries, keys, values = (torch.cat(part, dim=-1) for part in _projections(self, x))
    return [torch.softmax(_hidden(queries @ keys.mT / math.sqrt(keys.shape[-1])), dim=-1) @ values]


@mistake(replaces="MultiHeadAttentionWrapper.attend", dimension="numerics")
def softmax_over_heads(self: Any, x: Tensor) -> list[Tensor]:
    """Your softmax runs over the heads.

    One axis of your scores counts heads, which are independent. Which axis counts the keys?
    """
    queries, keys, values = (torch.stack(part) for part in _projections(self, x))
    return list(torch.softmax(_hidden(queries @ keys.mT / math.sqrt(keys.shape[-1])), dim=0) @ values)


@mistake(replaces="MultiHeadAttentionWrapper.attend", dimension="numerics")
def weights_of_the_first_head(self: Any, x: Tensor) -> list[Tensor]:
    """All your heads use the attention weights of the first head.

    Each head has its own queries and keys, so it has its own weights. Look for an index 0, or a loop that never uses
    its index.
    """
    queries, keys, _ = self.heads[0].project(x)
    shared = self.heads[0].weigh(queries, keys)
    return [shared @ head.project(x)[2] for head in self.heads]


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


@mistake(replaces="MultiHeadAttentionWrapper.attend", dimension="masking")
def masks_the_first_head_only(self: Any, x: Tensor) -> list[Tensor]:
    """Only the first head has a causal mask.

    The other heads attend to the future. Apply the mask in every head: check your indices, or where you create the
    mask.
    """
    open_heads = zip(*(part[1:] for part in _projections(self, x)), strict=True)
    rest = [torch.softmax(q @ k.mT / math.sqrt(k.shape[-1]), dim=-1) @ v for q, k, v in open_heads]
    return [self.heads[0](x), *rest]


@mistake(replaces="join", dimension="shapes")
def heads_added(contexts: list[Tensor]) -> Tensor:
    """Your output is only as wide as one head.

    Every head has its own features in the output, num_heads · d_out in all. Concatenate the heads; do not add or
    average them, and do not pick one.
    """
    return torch.stack(contexts).sum(dim=0)


@mistake(replaces="join", dimension="shapes")
def heads_stacked(contexts: list[Tensor]) -> Tensor:
    """You stack the heads along a new axis.

    Your output has four axes. Concatenate along the features instead: (B, T, num_heads · d_out).
    """
    return torch.stack(contexts, dim=1)


@mistake(replaces="join", dimension="shapes")
def heads_as_more_tokens(contexts: list[Tensor]) -> Tensor:
    """You concatenate the heads along the time axis.

    Your sequences are num_heads times as long. Concatenate along the feature axis.
    """
    return torch.cat(contexts, dim=1)


@mistake(replaces="join", dimension="shapes")
def heads_as_more_sequences(contexts: list[Tensor]) -> Tensor:
    """You concatenate the heads along the batch axis.

    Your batch is num_heads times as large. Axis 0 is the default of `torch.cat`; use the feature axis, `dim=-1`.
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
    batch, time, width = contexts[0].shape
    return torch.stack(contexts, dim=1).reshape(batch, time, len(contexts) * width)


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


def _projections(wrapper: Any, x: Tensor) -> tuple[tuple[Tensor, ...], ...]:
    """Return the queries of all heads, their keys, and their values."""
    return tuple(zip(*(head.project(x) for head in wrapper.heads), strict=True))


def _hidden(table: Tensor) -> Tensor:
    return table.masked_fill(torch.ones(table.shape[-2:], dtype=torch.bool).triu(diagonal=1), float("-inf"))


def _causal(head: Any, x: Tensor, under_the_root: float) -> Tensor:
    queries, keys, values = head.project(x)
    return head.gather(torch.softmax(_hidden(queries @ keys.mT / math.sqrt(under_the_root)), dim=-1), values)
