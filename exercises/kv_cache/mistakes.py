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
    """Nothing is hidden: every token sees the whole chunk that it comes in.

    One token at a time needs no mask. Several at once do: each of them may see those before it and itself.
    """
    return scores


@mistake(replaces="hide_future", dimension="masking")
def sees_one_ahead(scores: Tensor) -> Tensor:
    """Your mask starts one position too late.

    Every token sees the one after it, if both come in the same chunk. Check the diagonal from which your triangle
    starts.
    """
    return scores.masked_fill(_future(scores, 2), float("-inf"))


@mistake(replaces="hide_future", dimension="masking")
def hides_itself(scores: Tensor) -> Tensor:
    """Your mask hides the diagonal as well.

    No token sees itself, and the first token of a text sees nothing at all: a softmax over nothing is NaN.
    """
    return scores.masked_fill(_future(scores, 0), float("-inf"))


@mistake(replaces="hide_future", dimension="masking")
def fills_with_minus_ten(scores: Tensor) -> Tensor:
    """Your fill value is not low enough: you set the hidden scores to -10.

    Its exponential is small but not zero, so a little of the future leaks in.
    """
    return scores.masked_fill(_future(scores, 1), -10.0)


@mistake(replaces="hide_future", dimension="masking")
def fills_with_zero(scores: Tensor) -> Tensor:
    """You set the hidden scores to zero.

    A score of zero is an ordinary score, and still gets weight.
    """
    return scores.masked_fill(_future(scores, 1), 0.0)


@mistake(replaces="hide_future", dimension="masking")
def unmasked_after_the_first_chunk(scores: Tensor) -> Tensor:
    """You mask the first chunk only.

    With a cache, you hide nothing any more. That is right for single tokens; a later chunk of several has a future of
    its own.
    """
    if scores.shape[-1] > scores.shape[-2]:
        return scores
    return scores.masked_fill(_future(scores, 1), float("-inf"))


@mistake(replaces="behind", dimension="numerics")
def positions_start_anew(scores: Tensor) -> int:
    """Your mask takes the first new token for the first of the text.

    It hides the cache from the new tokens: the first of them sees one key, whichever that is. With P tokens before, new
    token i is token P + i; its row of the mask begins further to the right.
    """
    return 0


@mistake(replaces="recall", dimension="numerics")
def cache_ignored(keys: Tensor, values: Tensor, cache: Cache | None) -> tuple[Tensor, Tensor]:
    """You take no notice of the cache.

    Every chunk attends to itself alone. What came before is in the cache, and belongs in front of the new keys and
    values.
    """
    return keys, values


@mistake(replaces="recall", dimension="numerics")
def only_the_cache(keys: Tensor, values: Tensor, cache: Cache | None) -> tuple[Tensor, Tensor]:
    """Your new tokens see the cache only, and not themselves.

    A token's own key and value have to be joined to the cache before it attends.
    """
    return (keys, values) if cache is None else cache


@mistake(replaces="recall", dimension="numerics")
def keys_and_values_swapped_in_the_cache(keys: Tensor, values: Tensor, cache: Cache | None) -> tuple[Tensor, Tensor]:
    """Keys and values change places in your cache.

    Check the order in which you put the two into the cache, and the order in which you take them out.
    """
    if cache is None:
        return keys, values
    return torch.cat([cache[1], keys], dim=-2), torch.cat([cache[0], values], dim=-2)


@mistake(replaces="recall", dimension="numerics")
def keys_cached_twice(keys: Tensor, values: Tensor, cache: Cache | None) -> tuple[Tensor, Tensor]:
    """You take the cached keys for the cached values too.

    Both parts of your cache hold keys, or both are joined from the same part. A line that was copied and not changed
    does that.
    """
    if cache is None:
        return keys, values
    return torch.cat([cache[0], keys], dim=-2), torch.cat([cache[0], values], dim=-2)


@mistake(replaces="join", dimension="numerics")
def new_ones_first(before: Tensor, new: Tensor) -> Tensor:
    """You put the new tokens in front of the cached ones.

    The mask goes by position, so the order in time matters: what came first stays first.
    """
    return torch.cat([new, before], dim=-2)


@mistake(replaces="join", dimension="numerics")
def last_one_dropped(before: Tensor, new: Tensor) -> Tensor:
    """You lose a token at every boundary between chunks.

    The last cached token is gone when the new ones are joined. Look at where slices begin and end.
    """
    return torch.cat([before[..., 1:, :], new[..., :1, :], new], dim=-2)


@mistake(replaces="join", dimension="shapes")
def joined_out_of_shape(before: Tensor, new: Tensor) -> Tensor:
    """What you join with the cache does not fit together any more.

    Either the two are joined along an axis that does not count tokens (once the heads are split off, axis 1 counts
    heads and axis 2 counts tokens), or only one of keys and values is joined. Print the shapes before and after.
    """
    return torch.cat([before, new], dim=1)


@mistake(replaces="remember", dimension="numerics")
def remembers_the_chunk_before(keys: Tensor, values: Tensor, cache: Cache | None) -> Cache:
    """Your cache holds the last chunk only.

    What you return replaces what you were given, so it has to hold everything that came so far.
    """
    behind = 0 if cache is None else cache[0].shape[-2]
    seen = min(behind, keys.shape[-2] - 1)
    return keys[..., seen:, :], values[..., seen:, :]


@mistake(replaces="remember", dimension="numerics")
def first_cache_kept(keys: Tensor, values: Tensor, cache: Cache | None) -> Cache:
    """Your cache does not grow after the first chunk.

    You hand back the cache that you were given, without the new tokens.
    """
    return (keys, values) if cache is None else cache


@mistake(replaces="remember", dimension="numerics")
def one_token_remembered(keys: Tensor, values: Tensor, cache: Cache | None) -> Cache:
    """Your cache remembers the last token of each chunk only.

    A prompt of several tokens leaves several keys and values. Look for an index where a slice belongs.
    """
    behind = keys.shape[-2] - 1 if cache is None else cache[0].shape[-2]
    return (
        torch.cat([keys[..., : behind if cache else 0, :], keys[..., -1:, :]], dim=-2),
        torch.cat([values[..., : behind if cache else 0, :], values[..., -1:, :]], dim=-2),
    )


@mistake(replaces="recall", dimension="numerics")
def scales_the_cache_again(keys: Tensor, values: Tensor, cache: Cache | None) -> tuple[Tensor, Tensor]:
    """You scale the cached keys again at every step.

    What is in the cache was finished when it got there. If you scale keys, do it once, before they are cached.
    """
    if cache is None:
        return keys, values
    return torch.cat([cache[0] / keys.shape[-1] ** 0.5, keys], dim=-2), torch.cat([cache[1], values], dim=-2)


@mistake(replaces="CachedCausalAttention.forward", dimension="shapes")
def last_token_only(self: Any, x: Tensor, cache: Any = None) -> Any:
    """You return the output of the last token only.

    A chunk may have several tokens, and each of them wants its output. That the next word depends on the last one is
    the caller's business.
    """
    queries, keys, values = (p.unflatten(2, (self.num_heads, -1)).transpose(1, 2) for p in self.project(x))
    if cache is not None:
        keys, values = torch.cat([cache[0], keys], dim=-2), torch.cat([cache[1], values], dim=-2)
    context = self.weigh(queries[:, :, -1:], keys) @ values
    return self.leave(context.transpose(1, 2).flatten(2)), (keys, values)


@mistake(replaces="CachedCausalAttention.forward", dimension="shapes")
def output_of_everything(self: Any, x: Tensor, cache: Any = None) -> Any:
    """You return the outputs of the whole text at every call.

    Only the new tokens are asked for; the outputs of earlier ones were returned before.
    """
    whole = x if cache is None else torch.cat([cache, x], dim=1)
    queries, keys, values = (p.unflatten(2, (self.num_heads, -1)).transpose(1, 2) for p in self.project(whole))
    return self.leave((self.weigh(queries, keys) @ values).transpose(1, 2).flatten(2)), whole


@mistake(replaces="CachedCausalAttention.forward", dimension="shapes")
def cache_not_returned(self: Any, x: Tensor, cache: Any = None) -> Any:
    """You return the output alone.

    Two things are asked for: the output, and the cache that the next call is to be given.
    """
    queries, keys, values = (p.unflatten(2, (self.num_heads, -1)).transpose(1, 2) for p in self.project(x))
    return self.leave((self.weigh(queries, keys) @ values).transpose(1, 2).flatten(2))


@mistake(replaces="CachedCausalAttention.forward", dimension="numerics")
def cache_kept_in_the_module(self: Any, x: Tensor, cache: Any = None) -> Any:
    """Your module keeps the cache itself and never forgets it.

    A call without a cache begins a new text. Yours goes on with the keys and values of whatever was read before, so a
    second text sees the first. Return the cache, and use what you are given; keep nothing in `self`.
    """
    queries, keys, values = (p.unflatten(2, (self.num_heads, -1)).transpose(1, 2) for p in self.project(x))
    before = getattr(self, "kept", None)
    if before is not None and before[0].shape[0] == x.shape[0]:
        keys, values = torch.cat([before[0], keys], dim=-2), torch.cat([before[1], values], dim=-2)
    self.kept = (keys.detach(), values.detach())
    return self.leave((self.weigh(queries, keys) @ values).transpose(1, 2).flatten(2)), ()


@mistake(replaces="behind", dimension="masking")
def one_earlier_token_too_many(scores: Tensor) -> int:
    """Your new tokens count one earlier token too many.

    Once there is a cache, every new token sees the one after it, if both come in the same chunk. Two earlier tokens
    have the places 0 and 1, so the next one's place is 2.
    """
    earlier = scores.shape[-1] - scores.shape[-2]
    return earlier + (earlier > 0)


@mistake(replaces="behind", dimension="numerics")
def one_earlier_token_too_few(scores: Tensor) -> int:
    """Your new tokens count one earlier token too few.

    Once there is a cache, no new token sees itself. Two earlier tokens have the places 0 and 1, so the next one's
    place is 2.
    """
    earlier = scores.shape[-1] - scores.shape[-2]
    return earlier - (earlier > 0)


@mistake(replaces="CachedCausalAttention.forward", dimension="numerics")
def heads_interleaved(self: Any, x: Tensor, cache: Any = None) -> Any:
    """Your heads take turns at the features, going in and coming out.

    With two heads, one of yours has the features 0, 2, 4, … and the other 1, 3, 5, …; here a head has consecutive
    ones. In a `view`, the axis of the heads comes before that of their features.
    """
    batch, time, width = x.shape
    queries, keys, values = (part.view(batch, time, -1, self.num_heads).permute(0, 3, 1, 2) for part in self.project(x))
    if cache is not None:
        keys, values = torch.cat([cache[0], keys], dim=-2), torch.cat([cache[1], values], dim=-2)
    context = self.weigh(queries, keys) @ values
    return self.leave(context.permute(0, 2, 3, 1).reshape(batch, time, width)), (keys, values)
