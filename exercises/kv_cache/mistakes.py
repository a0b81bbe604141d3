"""What students get wrong in attention with a cache."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from grader.exercise.families import gradients, heads, projections, scores, weights
from grader.exercise.mistakes import borrow, mistake

Cache = tuple[Tensor, Tensor]

no_scaling = scores.no_scaling
scaled_by_half_the_width = scores.scaled_by_half_the_width
scaled_by_twice_the_width = scores.scaled_by_twice_the_width
scaled_by_the_rounded_root = scores.scaled_by_the_rounded_root
scaled_by_the_width_itself = scores.scaled_by_the_width_itself
scaled_by_the_length = scores.scaled_by_the_length
scaled_by_the_width_of_all_heads = scores.scaled_by_the_width_of_all_heads

softmax_over_queries = weights.softmax_over_queries
softmax_over_heads = weights.softmax_over_heads
overflowing_softmax = weights.overflowing_softmax

splits_without_transpose = heads.splits_without_transpose
deals_features_out = heads.deals_features_out
merges_without_transpose = heads.merges_without_transpose
no_output_projection = borrow(heads.no_output_projection, replaces="CachedCausalAttention.leave")

keys_and_values_swapped = borrow(projections.keys_and_values_swapped, replaces="CachedCausalAttention.project")
one_projection_for_all = borrow(projections.one_projection_for_all, replaces="CachedCausalAttention.project")

weights_cut_off = gradients.weights_cut_off
keys_cut_off = gradients.keys_cut_off


def _future(scores: Tensor, diagonal: int) -> Tensor:
    behind = scores.shape[-1] - scores.shape[-2]
    return torch.ones_like(scores, dtype=torch.bool).triu(diagonal=behind + diagonal)


@mistake(replaces="hide_future", dimension="masking")
def no_mask(scores: Tensor) -> Tensor:
    """Nothing is masked: every token attends to its whole chunk.

    A single new token needs no mask. In a chunk of several tokens, each must attend only to earlier tokens and itself.
    """
    return scores


@mistake(replaces="hide_future", dimension="masking")
def sees_one_ahead(scores: Tensor) -> Tensor:
    """Your mask starts one position too late.

    Every token attends to the one after it, if both are in the same chunk. Check the diagonal from which your triangle
    starts.
    """
    return scores.masked_fill(_future(scores, 2), float("-inf"))


@mistake(replaces="hide_future", dimension="masking")
def hides_itself(scores: Tensor) -> Tensor:
    """Your mask also covers the diagonal.

    No token attends to itself, and the first token of a text attends to nothing: a softmax over no keys is NaN.
    """
    return scores.masked_fill(_future(scores, 0), float("-inf"))


@mistake(replaces="hide_future", dimension="masking")
def fills_with_minus_ten(scores: Tensor) -> Tensor:
    """Your fill value is not low enough: you set the masked scores to -10.

    Its exponential is small but not zero, so some weight leaks to the future. Which number is below every score?
    """
    return scores.masked_fill(_future(scores, 1), -10.0)


@mistake(replaces="hide_future", dimension="masking")
def fills_with_zero(scores: Tensor) -> Tensor:
    """You set the masked scores to zero.

    A score of zero is an ordinary score and still gets weight. Which score gets no weight at all?
    """
    return scores.masked_fill(_future(scores, 1), 0.0)


@mistake(replaces="hide_future", dimension="masking")
def unmasked_after_the_first_chunk(scores: Tensor) -> Tensor:
    """You mask only the first chunk.

    If there is a cache, you mask nothing. That is right for single tokens, but in a later chunk of several tokens, the
    first ones must not attend to the last ones.
    """
    if scores.shape[-1] > scores.shape[-2]:
        return scores
    return scores.masked_fill(_future(scores, 1), float("-inf"))


@mistake(replaces="behind", dimension="numerics")
def positions_start_anew(scores: Tensor) -> int:
    """Your mask treats the first new token as the first token of the text.

    It masks the cache: the first new token attends to one key only. With P earlier tokens, new token i is token P + i
    of the text, so its row of the mask must allow P more keys.
    """
    return 0


@mistake(replaces="recall", dimension="numerics")
def cache_ignored(keys: Tensor, values: Tensor, cache: Cache | None) -> tuple[Tensor, Tensor]:
    """You ignore the cache.

    Every chunk attends only to itself. Concatenate the cached keys and values in front of the new ones.
    """
    return keys, values


@mistake(replaces="recall", dimension="numerics")
def only_the_cache(keys: Tensor, values: Tensor, cache: Cache | None) -> tuple[Tensor, Tensor]:
    """Your new tokens attend to the cache but not to themselves.

    Append the new keys and values to the cached ones before you compute the scores.
    """
    return (keys, values) if cache is None else cache


@mistake(replaces="recall", dimension="numerics")
def keys_and_values_swapped_in_the_cache(keys: Tensor, values: Tensor, cache: Cache | None) -> tuple[Tensor, Tensor]:
    """You swap keys and values in the cache.

    Check the order in which you store the two in the cache and the order in which you read them.
    """
    if cache is None:
        return keys, values
    return torch.cat([cache[1], keys], dim=-2), torch.cat([cache[0], values], dim=-2)


@mistake(replaces="recall", dimension="numerics")
def keys_cached_twice(keys: Tensor, values: Tensor, cache: Cache | None) -> tuple[Tensor, Tensor]:
    """You use the cached keys as the cached values too.

    Both parts of your cache hold keys, or you concatenate both from the same part. Look for a copied line that you did
    not change.
    """
    if cache is None:
        return keys, values
    return torch.cat([cache[0], keys], dim=-2), torch.cat([cache[0], values], dim=-2)


@mistake(replaces="join", dimension="numerics")
def new_ones_first(before: Tensor, new: Tensor) -> Tensor:
    """You put the new tokens before the cached ones.

    The mask depends on positions, so keep the order in time: earlier tokens first.
    """
    return torch.cat([new, before], dim=-2)


@mistake(replaces="join", dimension="numerics")
def last_one_dropped(before: Tensor, new: Tensor) -> Tensor:
    """You lose one token at every boundary between chunks.

    One cached token is missing after you concatenate the new ones. Check where your slices begin and end.
    """
    return torch.cat([before[..., 1:, :], new[..., :1, :], new], dim=-2)


@mistake(replaces="join", dimension="shapes")
def joined_out_of_shape(before: Tensor, new: Tensor) -> Tensor:
    """After you concatenate with the cache, the shapes do not fit.

    Either you concatenate along the wrong axis (after the split into heads, axis 1 is the head axis and axis 2 the time
    axis), or you concatenate only keys or only values. Print the shapes before and after.
    """
    return torch.cat([before, new], dim=1)


@mistake(replaces="remember", dimension="numerics")
def remembers_the_chunk_before(keys: Tensor, values: Tensor, cache: Cache | None) -> Cache:
    """Your cache holds only the last chunk.

    The cache that you return replaces the one that you were given, so it must hold all tokens so far.
    """
    behind = 0 if cache is None else cache[0].shape[-2]
    seen = min(behind, keys.shape[-2] - 1)
    return keys[..., seen:, :], values[..., seen:, :]


@mistake(replaces="remember", dimension="numerics")
def first_cache_kept(keys: Tensor, values: Tensor, cache: Cache | None) -> Cache:
    """Your cache does not grow after the first chunk.

    You return the cache that you were given, without the new tokens.
    """
    return (keys, values) if cache is None else cache


@mistake(replaces="remember", dimension="numerics")
def one_token_remembered(keys: Tensor, values: Tensor, cache: Cache | None) -> Cache:
    """Your cache stores only the last token of each chunk.

    A prompt of several tokens has several keys and values. Look for an index where a slice belongs.
    """
    behind = keys.shape[-2] - 1 if cache is None else cache[0].shape[-2]
    return (
        torch.cat([keys[..., : behind if cache else 0, :], keys[..., -1:, :]], dim=-2),
        torch.cat([values[..., : behind if cache else 0, :], values[..., -1:, :]], dim=-2),
    )


@mistake(replaces="recall", dimension="numerics")
def scales_the_cache_again(keys: Tensor, values: Tensor, cache: Cache | None) -> tuple[Tensor, Tensor]:
    """You scale the cached keys again in every call.

    If you scale keys, do it once, before you store them in the cache.
    """
    if cache is None:
        return keys, values
    return torch.cat([cache[0] / keys.shape[-1] ** 0.5, keys], dim=-2), torch.cat([cache[1], values], dim=-2)


@mistake(replaces="CachedCausalAttention.forward", dimension="shapes")
def last_token_only(self: Any, x: Tensor, cache: Any = None) -> Any:
    """You return the output of the last token only.

    A chunk may have several tokens, and each of them needs its output. The caller decides which of them to use.
    """
    queries, keys, values = (p.unflatten(2, (self.num_heads, -1)).transpose(1, 2) for p in self.project(x))
    if cache is not None:
        keys, values = torch.cat([cache[0], keys], dim=-2), torch.cat([cache[1], values], dim=-2)
    context = self.weigh(queries[:, :, -1:], keys) @ values
    return self.leave(context.transpose(1, 2).flatten(2)), (keys, values)


@mistake(replaces="CachedCausalAttention.forward", dimension="shapes")
def output_of_everything(self: Any, x: Tensor, cache: Any = None) -> Any:
    """You return the outputs of the whole text in every call.

    Return the outputs of the new tokens only; you returned those of earlier tokens before.
    """
    whole = x if cache is None else torch.cat([cache, x], dim=1)
    queries, keys, values = (p.unflatten(2, (self.num_heads, -1)).transpose(1, 2) for p in self.project(whole))
    return self.leave((self.weigh(queries, keys) @ values).transpose(1, 2).flatten(2)), whole


@mistake(replaces="CachedCausalAttention.forward", dimension="shapes")
def cache_not_returned(self: Any, x: Tensor, cache: Any = None) -> Any:
    """You return only the output.

    Return two results: the output, and the cache for the next call.
    """
    queries, keys, values = (p.unflatten(2, (self.num_heads, -1)).transpose(1, 2) for p in self.project(x))
    return self.leave((self.weigh(queries, keys) @ values).transpose(1, 2).flatten(2))


@mistake(replaces="CachedCausalAttention.forward", dimension="numerics")
def cache_kept_in_the_module(self: Any, x: Tensor, cache: Any = None) -> Any:
    """Your module stores the cache itself and never resets it.

    A call without a cache starts a new text. Your module continues with the keys and values of the previous text, so a
    second text attends to the first. Return the cache and use the one that you are given; store nothing in `self`.
    """
    queries, keys, values = (p.unflatten(2, (self.num_heads, -1)).transpose(1, 2) for p in self.project(x))
    before = getattr(self, "kept", None)
    if before is not None and before[0].shape[0] == x.shape[0]:
        keys, values = torch.cat([before[0], keys], dim=-2), torch.cat([before[1], values], dim=-2)
    self.kept = (keys.detach(), values.detach())
    return self.leave((self.weigh(queries, keys) @ values).transpose(1, 2).flatten(2)), ()


@mistake(replaces="behind", dimension="masking")
def one_earlier_token_too_many(scores: Tensor) -> int:
    """Your mask counts one earlier token too many.

    With a cache, every new token attends to the one after it, if both are in the same chunk. After two earlier tokens,
    at positions 0 and 1, the next token has position 2.
    """
    earlier = scores.shape[-1] - scores.shape[-2]
    return earlier + (earlier > 0)


@mistake(replaces="behind", dimension="numerics")
def one_earlier_token_too_few(scores: Tensor) -> int:
    """Your mask counts one earlier token too few.

    With a cache, no new token attends to itself. After two earlier tokens, at positions 0 and 1, the next token has
    position 2.
    """
    earlier = scores.shape[-1] - scores.shape[-2]
    return earlier - (earlier > 0)


@mistake(replaces="CachedCausalAttention.forward", dimension="numerics")
def heads_interleaved(self: Any, x: Tensor, cache: Any = None) -> Any:
    """Your heads are interleaved in the split and in the merge.

    With two heads, one of yours has the features 0, 2, 4, … and the other 1, 3, 5, …. Each head must have consecutive
    features. In a `view`, the head axis comes before the axis of its features.
    """
    batch, time, width = x.shape
    queries, keys, values = (part.view(batch, time, -1, self.num_heads).permute(0, 3, 1, 2) for part in self.project(x))
    if cache is not None:
        keys, values = torch.cat([cache[0], keys], dim=-2), torch.cat([cache[1], values], dim=-2)
    context = self.weigh(queries, keys) @ values
    return self.leave(context.permute(0, 2, 3, 1).reshape(batch, time, width)), (keys, values)
