"""What students get wrong in the padding mask."""

from __future__ import annotations

import torch
from torch import Tensor

from grader.exercise.mistakes import mistake


@mistake(replaces="visible", dimension="masking")
def inverted(seq: Tensor, pad_idx: int) -> Tensor:
    """Your mask is the wrong way round.

    It is True at the padding and False at the words. Here True means: may be attended to.
    """
    return seq == pad_idx


@mistake(replaces="visible", dimension="masking")
def index_ignored(seq: Tensor, pad_idx: int) -> Tensor:
    """You compare with 0, whatever the padding token is.

    `pad_idx` is an argument, and other vocabularies fill up with other tokens.
    """
    return seq != 0


@mistake(replaces="visible", dimension="masking")
def anything_above(seq: Tensor, pad_idx: int) -> Tensor:
    """You take every token above the padding token for a word, and hide those below.

    Token numbers have no order. Only the padding token itself is hidden.
    """
    return seq > pad_idx


@mistake(replaces="visible", dimension="masking")
def anything_but_zero(seq: Tensor, pad_idx: int) -> Tensor:
    """You hide token 0 besides the padding.

    Where another token fills up, 0 is a word like any other. Look for a conversion of token numbers to bool.
    """
    return (seq != pad_idx) & seq.bool()


@mistake(replaces="visible", dimension="masking")
def nothing_hidden(seq: Tensor, pad_idx: int) -> Tensor:
    """Your mask hides nothing.

    It is True everywhere, at the padding too.
    """
    return torch.ones_like(seq, dtype=torch.bool)


@mistake(replaces="visible", dimension="masking")
def one_too_short(seq: Tensor, pad_idx: int) -> Tensor:
    """You hide the last word as well.

    If you count words and compare positions with the count, check whether the comparison is strict, and where
    counting begins.
    """
    count = (seq != pad_idx).sum(dim=-1, keepdim=True)
    return torch.arange(seq.shape[-1]) < count - 1


@mistake(replaces="visible", dimension="masking")
def one_too_long(seq: Tensor, pad_idx: int) -> Tensor:
    """You show the first padding token.

    If you count words and compare positions with the count, check whether the comparison is strict.
    """
    count = (seq != pad_idx).sum(dim=-1, keepdim=True)
    return torch.arange(seq.shape[-1]) <= count


@mistake(replaces="visible", dimension="masking")
def counted_from_the_left(seq: Tensor, pad_idx: int) -> Tensor:
    """You take for granted that padding stands behind the words.

    Counting the words and showing that many positions from the left fails where padding stands in front.
    """
    count = (seq != pad_idx).sum(dim=-1, keepdim=True)
    return torch.arange(seq.shape[-1]) < count


@mistake(replaces="visible", dimension="masking")
def lengths_of_the_first(seq: Tensor, pad_idx: int) -> Tensor:
    """You give every sentence the mask of the first one.

    Each row of the batch has its own padding.
    """
    return (seq != pad_idx)[:1].expand_as(seq)


@mistake(replaces="visible", dimension="masking")
def hidden_in_any(seq: Tensor, pad_idx: int) -> Tensor:
    """You hide a position in all sentences as soon as one of them has padding there.

    Look for an `any` or `all` over the batch. Each row has its own padding.
    """
    return (seq != pad_idx).all(dim=0, keepdim=True).expand_as(seq)


@mistake(replaces="spread", dimension="shapes")
def no_axes_added(mask: Tensor) -> Tensor:
    """Your mask has the shape of the tokens, (B, T).

    Set against scores of shape (B, h, T_q, T_k), it would line up with queries and keys. It needs an axis for the heads
    and one for the queries.
    """
    return mask


@mistake(replaces="spread", dimension="shapes")
def one_axis_added(mask: Tensor) -> Tensor:
    """Your mask has one axis too few, (B, 1, T).

    Set against scores of shape (B, h, T_q, T_k), its batch axis would line up with the heads.
    """
    return mask[:, None, :]


@mistake(replaces="spread", dimension="shapes")
def on_the_query_axis(mask: Tensor) -> Tensor:
    """Your mask hides queries, not keys: its shape is (B, 1, T, 1).

    The last axis of the scores counts the keys, and it is keys that may not be seen.
    """
    return mask[:, None, :, None]


@mistake(replaces="spread", dimension="shapes")
def axes_in_front(mask: Tensor) -> Tensor:
    """You put the new axes in front, (1, 1, B, T).

    The batch has to stay first. The new axes belong between it and the keys.
    """
    return mask[None, None]


@mistake(replaces="spread", dimension="shapes")
def every_query_written_out(mask: Tensor) -> Tensor:
    """You write the mask out for every query, (B, 1, T, T).

    The contract asks for an axis of size one, which is repeated where it is needed. In cross-attention there are not as
    many queries as keys.
    """
    return mask[:, None, None, :].expand(-1, 1, mask.shape[1], -1)


@mistake(replaces="spread", dimension="shapes")
def numbers(mask: Tensor) -> Tensor:
    """You return a mask of numbers, ones and zeros.

    The contract asks for bool: a mask of numbers is easily added to the scores by mistake, and cannot be inverted
    with `~`.
    """
    return mask[:, None, None, :].to(torch.get_default_dtype())


@mistake(replaces="spread", dimension="shapes")
def whole_numbers(mask: Tensor) -> Tensor:
    """You return a mask of whole numbers, ones and zeros.

    The contract asks for bool: `~` of a whole number is not its opposite.
    """
    return mask[:, None, None, :].long()


@mistake(replaces="spread", dimension="masking")
def mirrored(mask: Tensor) -> Tensor:
    """Your mask runs backwards.

    Its last entry speaks about the first token. Look for a flip, or for positions counted from the end.
    """
    return mask[:, None, None, :].flip(-1)


@mistake(replaces="spread", dimension="numerics")
def added_mask(mask: Tensor) -> Tensor:
    """You return a mask that is to be added to scores: 0 and -inf.

    This one is bool: True where a token may be attended to.
    """
    return torch.zeros(mask.shape).masked_fill(~mask, float("-inf"))[:, None, None, :]


@mistake(replaces="visible", dimension="masking")
def hides_all_after_the_first_padding(seq: Tensor, pad_idx: int) -> Tensor:
    """You hide everything from the first padding token on.

    Padding may stand in front as well, and words follow it. Compare each token by itself.
    """
    return (seq == pad_idx).cumsum(dim=1) == 0


@mistake(replaces="spread", dimension="shapes")
def batch_on_the_second_axis(mask: Tensor) -> Tensor:
    """Your batch stands on the second axis, where heads belong.

    In (B, 1, 1, T) the batch comes first. Look at the places where you insert axes: the first one is behind the batch.
    """
    return mask[None, :, None, :]


@mistake(replaces="create_padding_mask", dimension="shapes")
def token_numbers_kept(seq: Tensor, pad_idx: int = 0) -> Tensor:
    """You return token numbers where True belongs.

    A mask says of each token whether it may be seen, and nothing else about it: True or False.
    """
    return (seq * (seq != pad_idx))[:, None, None, :]


@mistake(replaces="spread", dimension="shapes")
def a_batch_of_one_loses_its_axis(mask: Tensor) -> Tensor:
    """You take the batch axis away from a batch of one.

    A batch of one sentence is still a batch. `squeeze` without an argument removes every axis of size one.
    """
    return mask[:, None, None, :].squeeze(0)
