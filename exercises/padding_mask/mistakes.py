"""What students get wrong in the padding mask."""

from __future__ import annotations

import torch
from torch import Tensor

from grader.exercise.mistakes import mistake


@mistake(replaces="visible", dimension="masking")
def inverted(seq: Tensor, pad_idx: int) -> Tensor:
    """Your mask is inverted.

    It is True at padding and False at words. Here True means that a token may be attended to.
    """
    return seq == pad_idx


@mistake(replaces="visible", dimension="masking")
def index_ignored(seq: Tensor, pad_idx: int) -> Tensor:
    """You compare with 0 instead of `pad_idx`.

    The padding token is an argument, because other vocabularies use other ids.
    """
    return seq != 0


@mistake(replaces="visible", dimension="masking")
def anything_above(seq: Tensor, pad_idx: int) -> Tensor:
    """You mask every token whose id is below `pad_idx`.

    The order of token ids has no meaning. Mask only the tokens equal to `pad_idx`.
    """
    return seq > pad_idx


@mistake(replaces="visible", dimension="masking")
def anything_but_zero(seq: Tensor, pad_idx: int) -> Tensor:
    """You mask token 0 as well as the padding.

    If `pad_idx` is not 0, token 0 is a word like any other. Look for a conversion of token ids to bool.
    """
    return (seq != pad_idx) & seq.bool()


@mistake(replaces="visible", dimension="masking")
def nothing_hidden(seq: Tensor, pad_idx: int) -> Tensor:
    """Your mask has no effect: it is True everywhere.

    It must be False at padding.
    """
    return torch.ones_like(seq, dtype=torch.bool)


@mistake(replaces="visible", dimension="masking")
def one_too_short(seq: Tensor, pad_idx: int) -> Tensor:
    """You mask the last word as well.

    If you count words and compare positions with the count, check whether the comparison is strict, and whether you
    count from 0.
    """
    count = (seq != pad_idx).sum(dim=-1, keepdim=True)
    return torch.arange(seq.shape[-1]) < count - 1


@mistake(replaces="visible", dimension="masking")
def one_too_long(seq: Tensor, pad_idx: int) -> Tensor:
    """You do not mask the first padding token.

    If you count words and compare positions with the count, check whether the comparison is strict.
    """
    count = (seq != pad_idx).sum(dim=-1, keepdim=True)
    return torch.arange(seq.shape[-1]) <= count


@mistake(replaces="visible", dimension="masking")
def counted_from_the_left(seq: Tensor, pad_idx: int) -> Tensor:
    """You assume that padding comes after the words.

    Counting the words and keeping that many positions from the left fails when padding comes before the words.
    """
    count = (seq != pad_idx).sum(dim=-1, keepdim=True)
    return torch.arange(seq.shape[-1]) < count


@mistake(replaces="visible", dimension="masking")
def lengths_of_the_first(seq: Tensor, pad_idx: int) -> Tensor:
    """You use the mask of the first sentence for every sentence.

    Each sentence of the batch has its own padding.
    """
    return (seq != pad_idx)[:1].expand_as(seq)


@mistake(replaces="visible", dimension="masking")
def hidden_in_any(seq: Tensor, pad_idx: int) -> Tensor:
    """You mask a position in all sentences if any of them has padding there.

    Each sentence of the batch has its own padding. Look for an `any` or `all` over the batch.
    """
    return (seq != pad_idx).all(dim=0, keepdim=True).expand_as(seq)


@mistake(replaces="spread", dimension="shapes")
def no_axes_added(mask: Tensor) -> Tensor:
    """Your mask has the shape of the tokens, (B, T).

    Against scores of shape (B, h, T_q, T_k), its axes would line up with queries and keys. It needs an axis of size 1
    for the heads and one for the queries.
    """
    return mask


@mistake(replaces="spread", dimension="shapes")
def one_axis_added(mask: Tensor) -> Tensor:
    """Your mask has one axis too few, (B, 1, T).

    Against scores of shape (B, h, T_q, T_k), its batch axis would line up with the heads.
    """
    return mask[:, None, :]


@mistake(replaces="spread", dimension="shapes")
def on_the_query_axis(mask: Tensor) -> Tensor:
    """Your mask covers queries, not keys: its shape is (B, 1, T, 1).

    The last axis of the scores counts the keys, and padding must be masked as keys.
    """
    return mask[:, None, :, None]


@mistake(replaces="spread", dimension="shapes")
def axes_in_front(mask: Tensor) -> Tensor:
    """You insert both new axes before the batch, (1, 1, B, T).

    The batch axis comes first. Insert the new axes between batch and time.
    """
    return mask[None, None]


@mistake(replaces="spread", dimension="shapes")
def every_query_written_out(mask: Tensor) -> Tensor:
    """Your mask has a row for every query, (B, 1, T, T).

    The exercise asks for a query axis of size 1, which broadcasts: only keys are masked, and for all queries alike. In
    cross-attention the numbers of queries and keys differ.
    """
    return mask[:, None, None, :].expand(-1, 1, mask.shape[1], -1)


@mistake(replaces="spread", dimension="shapes")
def numbers(mask: Tensor) -> Tensor:
    """You return a mask of ones and zeros in floating point.

    The exercise asks for bool: a mask of numbers is easily added to the scores by mistake, and cannot be inverted with
    `~`.
    """
    return mask[:, None, None, :].to(torch.get_default_dtype())


@mistake(replaces="spread", dimension="shapes")
def whole_numbers(mask: Tensor) -> Tensor:
    """You return a mask of integers, ones and zeros.

    The exercise asks for bool: `~` does not invert an integer 0 or 1.
    """
    return mask[:, None, None, :].long()


@mistake(replaces="spread", dimension="masking")
def mirrored(mask: Tensor) -> Tensor:
    """Your mask is in reverse order.

    Its last entry belongs to the first token. Look for a flip, or for positions counted from the end.
    """
    return mask[:, None, None, :].flip(-1)


@mistake(replaces="spread", dimension="numerics")
def added_mask(mask: Tensor) -> Tensor:
    """You return an additive mask: 0 and -inf.

    The exercise asks for bool: True where a token may be attended to.
    """
    return torch.zeros(mask.shape).masked_fill(~mask, float("-inf"))[:, None, None, :]


@mistake(replaces="visible", dimension="masking")
def hides_all_after_the_first_padding(seq: Tensor, pad_idx: int) -> Tensor:
    """You mask everything from the first padding token on.

    Padding may also come before the words. Compare each token by itself.
    """
    return (seq == pad_idx).cumsum(dim=1) == 0


@mistake(replaces="spread", dimension="shapes")
def batch_on_the_second_axis(mask: Tensor) -> Tensor:
    """Your batch is on the second axis, where the heads belong.

    The shape must be (B, 1, 1, T). Check where you insert axes: the first new axis comes after the batch.
    """
    return mask[None, :, None, :]


@mistake(replaces="create_padding_mask", dimension="shapes")
def token_numbers_kept(seq: Tensor, pad_idx: int = 0) -> Tensor:
    """You return token ids instead of True and False.

    The exercise asks for bool: True where a token may be attended to.
    """
    return (seq * (seq != pad_idx))[:, None, None, :]


@mistake(replaces="spread", dimension="shapes")
def a_batch_of_one_loses_its_axis(mask: Tensor) -> Tensor:
    """You remove the batch axis of a batch of one.

    A batch of one sentence still has a batch axis. `squeeze` without an argument removes every axis of size 1.
    """
    return mask[:, None, None, :].squeeze(0)
