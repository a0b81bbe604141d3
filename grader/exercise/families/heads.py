"""What goes wrong when features are split into heads, and heads are put together again."""

from __future__ import annotations

from typing import Any

import torch.nn.functional as F
from torch import Tensor

from grader.exercise.families.projections import through
from grader.exercise.mistakes import mistake


@mistake(replaces="split", dimension="numerics")
def splits_without_transpose(x: Tensor, num_heads: int) -> Tensor:
    """Your split into heads mixes tokens and features.

    You view batch, time and features as batch, heads, time and features at once. The shape fits, but a head then holds
    pieces of some tokens instead of a piece of every token. Cut the last axis first; moving an axis is another step.
    """
    batch, time, width = x.shape
    return x.reshape(batch, num_heads, time, width // num_heads)


@mistake(replaces="split", dimension="numerics")
def deals_features_out(x: Tensor, num_heads: int) -> Tensor:
    """Your heads take turns: every h-th feature goes to the same head.

    A head owns *consecutive* features of a projection. When you cut the last axis in two, the number of heads comes
    first and the width of a head second.
    """
    batch, time, width = x.shape
    return x.reshape(batch, time, width // num_heads, num_heads).permute(0, 3, 1, 2)


@mistake(replaces="split", dimension="masking")
def mixes_batch_and_heads(x: Tensor, num_heads: int) -> Tensor:
    """Your sequences and your heads are mixed up.

    With heads in front of the batch, a view with the batch first puts heads of different sequences together. Check the
    order of your axes after the permutation.
    """
    batch, time, width = x.shape
    heads = x.reshape(batch, time, num_heads, -1).permute(2, 0, 1, 3)
    return heads.reshape(batch, num_heads, time, width // num_heads)


@mistake(replaces="merge", dimension="numerics")
def merges_without_transpose(heads: Tensor) -> Tensor:
    """You merge the heads without moving the head axis back.

    You view batch, heads, time and features as batch, time and features at once. The shape fits, but a row then holds
    several tokens of one head instead of one token of all heads. Merging undoes splitting: the same steps, backwards.
    """
    batch, count, time, width = heads.shape
    return heads.reshape(batch, time, count * width)


@mistake(replaces="merge", dimension="numerics")
def merges_features_before_heads(heads: Tensor) -> Tensor:
    """Your heads are interleaved in the output.

    The first feature of every head comes first, then the second of every head. The heads should lie side by side, each
    with all its features. Look at the order of the last two axes before you flatten them.
    """
    return heads.permute(0, 2, 3, 1).flatten(2)


@mistake(replaces="merge", dimension="numerics")
def heads_in_reverse(heads: Tensor) -> Tensor:
    """Your heads come out in reverse order.

    The features of head 0 are the first ones of the output, those of the last head the last. Look for a `flip`, a
    negative step, or a list that grows at its front.
    """
    return heads.flip(1).transpose(1, 2).flatten(2)


@mistake(replaces="merge", dimension="numerics")
def heads_averaged(heads: Tensor) -> Tensor:
    """You average the heads where they should stand side by side.

    What distinguishes the heads is lost. Every head has features of its own in the output.
    """
    return heads.mean(dim=1).repeat(1, 1, heads.shape[1])


@mistake(replaces="merge", dimension="numerics")
def first_head_for_all(heads: Tensor) -> Tensor:
    """Your output holds the first head over and over.

    Each head has features of its own in the output. Look for an index 0, or a loop that never uses its index.
    """
    return heads[:, 0].repeat(1, 1, heads.shape[1])


@mistake(replaces="leave", dimension="numerics")
def no_output_projection(self: Any, context: Tensor) -> Tensor:
    """You return the merged heads as they are.

    The output projection is missing: your constructor may have it, but nothing goes through it.
    """
    return context


@mistake(replaces="leave", dimension="numerics")
def output_projection_twice(self: Any, context: Tensor) -> Tensor:
    """You send the heads through the output projection twice.

    Once is enough to combine them. Look for a second call of the layer.
    """
    return through(self.W_out, through(self.W_out, context))


@mistake(replaces="leave", dimension="numerics")
def output_bias_ignored(self: Any, context: Tensor) -> Tensor:
    """The bias of your output projection has no effect.

    The output projection has a bias here. If you multiply with `layer.weight` yourself, the bias stays out; calling the
    layer does both.
    """
    return F.linear(context, self.W_out.weight)


@mistake(replaces="leave", dimension="numerics")
def activated_output(self: Any, context: Tensor) -> Tensor:
    """You send the output through an activation function.

    Nothing in your output is negative. Attention ends with the projection; a ReLU belongs to the layers that follow.
    """
    return F.relu(through(self.W_out, context))


@mistake(replaces="leave", dimension="numerics")
def residual_slipped_in(self: Any, context: Tensor) -> Tensor:
    """You add the merged heads to their projection.

    A residual connection is part of a transformer block, round attention. This module returns the projection alone.
    """
    return context + through(self.W_out, context)


@mistake(replaces="leave", dimension="numerics")
def layer_norm_slipped_in(self: Any, context: Tensor) -> Tensor:
    """You normalise the output.

    A LayerNorm is part of a transformer block, round attention. This module returns the projection alone.
    """
    output = through(self.W_out, context)
    return F.layer_norm(output, output.shape[-1:])
