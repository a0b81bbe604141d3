"""Mistakes in splitting features into heads and in merging the heads again."""

from __future__ import annotations

from typing import Any

import torch.nn.functional as F
from torch import Tensor

from grader.exercise.families.projections import through
from grader.exercise.mistakes import mistake


@mistake(replaces="split", dimension="numerics", common=True)
def splits_without_transpose(x: Tensor, num_heads: int) -> Tensor:
    """Your split into heads mixes tokens and features.

    You reshape (batch, time, features) directly to (batch, heads, time, head width). The shape fits, but each head then
    holds all features of some tokens instead of some features of every token. First split the last axis into heads and
    head width; then move the head axis.
    """
    batch, time, width = x.shape
    return x.reshape(batch, num_heads, time, width // num_heads)


@mistake(replaces="split", dimension="numerics", common=True)
def deals_features_out(x: Tensor, num_heads: int) -> Tensor:
    """Your split interleaves the heads: every h-th feature goes to the same head.

    A head owns *consecutive* features of a projection. When you split the last axis in two, the number of heads comes
    first and the head width second.
    """
    batch, time, width = x.shape
    return x.reshape(batch, time, width // num_heads, num_heads).permute(0, 3, 1, 2)


@mistake(replaces="split", dimension="masking", common=True)
def mixes_batch_and_heads(x: Tensor, num_heads: int) -> Tensor:
    """You mix up sequences and heads.

    If the heads come before the batch, a view with the batch first combines heads of different sequences. Check the
    order of the axes after your permutation.
    """
    batch, time, width = x.shape
    heads = x.reshape(batch, time, num_heads, -1).permute(2, 0, 1, 3)
    return heads.reshape(batch, num_heads, time, width // num_heads)


@mistake(replaces="merge", dimension="numerics", common=True)
def merges_without_transpose(heads: Tensor) -> Tensor:
    """A row of your output holds several tokens of one head.

    It must hold one token of all heads; the shape fits all the same. Move the head axis next to the features before you
    reshape, or concatenate the heads along the last axis.
    """
    batch, count, time, width = heads.shape
    return heads.reshape(batch, time, count * width)


@mistake(replaces="merge", dimension="numerics", common=True)
def merges_features_before_heads(heads: Tensor) -> Tensor:
    """Your heads are interleaved in the output.

    Your output holds the first feature of every head, then the second feature of every head, and so on. The heads must
    be concatenated, each with all its features. Check the order of the last two axes before you flatten them.
    """
    return heads.permute(0, 2, 3, 1).flatten(2)


@mistake(replaces="merge", dimension="numerics")
def heads_in_reverse(heads: Tensor) -> Tensor:
    """Your heads are in reverse order.

    The features of head 0 must come first in the output, those of the last head last. Look for a `flip`, a negative
    step, or a list that grows at its front.
    """
    return heads.flip(1).transpose(1, 2).flatten(2)


@mistake(replaces="merge", dimension="numerics")
def heads_averaged(heads: Tensor) -> Tensor:
    """You average the heads instead of concatenating them.

    This loses the differences between the heads. Every head must have its own features in the output.
    """
    return heads.mean(dim=1).repeat(1, 1, heads.shape[1])


@mistake(replaces="merge", dimension="numerics")
def first_head_for_all(heads: Tensor) -> Tensor:
    """Your output repeats the first head.

    Each head must have its own features in the output. Look for an index 0, or for a loop that never uses its index.
    """
    return heads[:, 0].repeat(1, 1, heads.shape[1])


@mistake(replaces="leave", dimension="numerics")
def no_output_projection(self: Any, context: Tensor) -> Tensor:
    """You return the merged heads without the output projection.

    Your constructor may create the output projection, but `forward` never applies it.
    """
    return context


@mistake(replaces="leave", dimension="numerics")
def output_projection_twice(self: Any, context: Tensor) -> Tensor:
    """You apply the output projection twice.

    Apply it once. Look for a second call of the layer.
    """
    return through(self.W_out, through(self.W_out, context))


@mistake(replaces="leave", dimension="numerics")
def output_bias_ignored(self: Any, context: Tensor) -> Tensor:
    """The bias of your output projection has no effect.

    The output projection has a bias here. If you multiply by `layer.weight` yourself, you leave out the bias; calling
    the layer applies both.
    """
    return F.linear(context, self.W_out.weight)


@mistake(replaces="leave", dimension="numerics")
def activated_output(self: Any, context: Tensor) -> Tensor:
    """You apply an activation function to the output.

    Your output has no negative elements. Attention ends with the output projection; a ReLU belongs to later layers.
    """
    return F.relu(through(self.W_out, context))


@mistake(replaces="leave", dimension="numerics")
def residual_slipped_in(self: Any, context: Tensor) -> Tensor:
    """You add the merged heads to the output of the projection.

    A residual connection is part of the transformer block around the attention. This module returns only the
    projection.
    """
    return context + through(self.W_out, context)


@mistake(replaces="leave", dimension="numerics")
def layer_norm_slipped_in(self: Any, context: Tensor) -> Tensor:
    """You normalise the output.

    A LayerNorm is part of the transformer block around the attention. This module returns only the projection.
    """
    output = through(self.W_out, context)
    return F.layer_norm(output, output.shape[-1:])
