"""Mistakes in applying a mask that is True or 1 where a query may attend to a key; None means everywhere."""

from __future__ import annotations

import torch
from torch import Tensor

from grader.exercise.mistakes import mistake


@mistake(replaces="apply_mask", dimension="masking", common=True)
def mask_ignored(scores: Tensor, mask: Tensor | None) -> Tensor:
    """Your mask has no effect.

    Your output is the same with and without a mask. Either you do not use the mask, or you do not use the result of the
    masking: `masked_fill` returns a new tensor and does not change the old one.
    """
    return scores


@mistake(replaces="apply_mask", dimension="masking", common=True)
def mask_inverted(scores: Tensor, mask: Tensor | None) -> Tensor:
    """You mask the visible keys and show the masked ones.

    True in the mask means that the query may attend. `masked_fill` fills where its mask is True. Compare the two
    sentences.
    """
    return scores if mask is None else scores.masked_fill(mask != 0, float("-inf"))


@mistake(replaces="apply_mask", dimension="masking", common=True)
def mask_inverted_with_a_large_number(scores: Tensor, mask: Tensor | None) -> Tensor:
    """You mask the visible keys, with a large negative number.

    True in the mask means that the query may attend, and you fill exactly these entries. A query that may attend to all
    keys then gets equal weights, because all its scores are the same number. Which entries does your fill change?
    """
    return scores if mask is None else scores.masked_fill(mask != 0, -1e9)


@mistake(replaces="apply_mask", dimension="masking", common=True)
def mask_added(scores: Tensor, mask: Tensor | None) -> Tensor:
    """You add the mask to the scores as zeros and ones.

    That raises the visible scores by 1 and masks nothing. The number that you add to a masked score must be so low that
    its weight after the softmax is zero.
    """
    return scores if mask is None else scores + mask


@mistake(replaces="apply_mask", dimension="masking", common=True)
def large_number_added_where_visible(scores: Tensor, mask: Tensor | None) -> Tensor:
    """You add a large negative number to the visible scores, not to the masked ones.

    True in the mask, or 1, means that the query may attend, so `mask * -1e9` lowers exactly these keys. Which entries
    must be lowered?
    """
    return scores if mask is None else scores + mask.to(scores.dtype) * -1e9


@mistake(replaces="apply_mask", dimension="masking", common=True)
def hidden_scores_are_zero(scores: Tensor, mask: Tensor | None) -> Tensor:
    """You set masked scores to zero.

    A score of 0 is an ordinary score: its exponential is 1, so the key gets weight, often more than the visible ones.
    The same happens if you multiply the scores by the mask, or fill with `finfo.tiny`, a number just above zero.
    """
    return _fill(scores, mask, 0.0)


@mistake(replaces="apply_mask", dimension="masking", common=True)
def hidden_scores_are_minus_one(scores: Tensor, mask: Tensor | None) -> Tensor:
    """You set masked scores to -1.

    That is an ordinary score: its exponential is more than a third. Which score gets no weight at all?
    """
    return _fill(scores, mask, -1.0)


@mistake(replaces="apply_mask", dimension="masking", common=True)
def hidden_scores_are_minus_ten(scores: Tensor, mask: Tensor | None) -> Tensor:
    """You fill masked scores with a number that is not low enough.

    With -10 a masked key keeps a small weight, and a large one when the visible scores are low too. Which number is
    below every score?
    """
    return _fill(scores, mask, -10.0)


@mistake(replaces="apply_mask", dimension="masking", common=True)
def hidden_scores_are_minus_twenty(scores: Tensor, mask: Tensor | None) -> Tensor:
    """You fill masked scores with -20, which is not low enough.

    A masked key keeps a weight of some billionths, and a large one when the visible scores are low too. Which number is
    below every score?
    """
    return _fill(scores, mask, -20.0)


@mistake(replaces="apply_mask", dimension="masking", common=True)
def hidden_scores_are_minus_ten_thousand(scores: Tensor, mask: Tensor | None) -> Tensor:
    """Your fill value is not lower than every possible score.

    A number such as -100 or -10,000 works only while the visible scores are moderate. If all of them are lower than
    your fill value, the masked keys have the largest scores and take all the weight. Which number is below every score?
    """
    return _fill(scores, mask, -1e4)


@mistake(replaces="apply_mask", dimension="masking")
def hidden_scores_are_huge(scores: Tensor, mask: Tensor | None) -> Tensor:
    """You fill masked scores with a large positive number.

    A softmax gives the most weight to the largest scores, so the masked keys get all of it. The number must be
    negative; the safest choice is `float("-inf")`.
    """
    return _fill(scores, mask, 1e9)


@mistake(replaces="apply_mask", dimension="masking", common=True)
def zero_times_infinity(scores: Tensor, mask: Tensor | None) -> Tensor:
    """You multiply zeros by -inf.

    Multiplying a numeric mask by -inf gives -inf where the mask is 1, but 0 times -inf is NaN, not 0, and one NaN
    spoils the whole row. Choose between two values, with `masked_fill` or `where`, instead of multiplying.
    """
    return scores if mask is None else scores + (mask == 0) * float("-inf")


@mistake(replaces="apply_mask", dimension="masking")
def a_number_added_where_hidden(scores: Tensor, mask: Tensor | None) -> Tensor:
    """The number that you add to masked scores is not low enough.

    A term such as -100, -10,000 or log(1e-45) works only while masked scores are not far above the visible ones. A
    masked key whose score is higher by more than that takes the weight. Which number is low enough for any score?
    """
    return scores if mask is None else scores + (mask == 0) * -1e4


@mistake(replaces="apply_mask", dimension="masking")
def zeros_taken_for_hidden(scores: Tensor, mask: Tensor | None) -> Tensor:
    """You treat every score of zero as masked.

    You multiply the scores by the mask and then fill every entry that is 0. A visible score can be zero as well: a
    token of zeros has only such scores. Use the mask, not the scores, to decide which keys to fill.
    """
    if mask is None:
        return scores
    shown = scores * mask
    return shown.masked_fill(shown == 0, float("-inf"))


@mistake(replaces="apply_mask", dimension="masking")
def an_axis_too_many(scores: Tensor, mask: Tensor | None) -> Tensor:
    """You add an axis that the mask already has.

    `mask.unsqueeze(1)` makes room for heads in a mask of shape (B, T_q, T_k). Here the mask already broadcasts against
    the scores. An extra axis lines up its batch with another axis of the scores, or adds an axis to your output.
    """
    return _fill(scores, None if mask is None else mask.unsqueeze(1), float("-inf"))


@mistake(replaces="apply_mask", dimension="masking", common=True)
def every_mask_transposed(scores: Tensor, mask: Tensor | None) -> Tensor:
    """You transpose every mask.

    A mask has a row for each query and a column for each key, like the scores. Your code masks the pair (query j, key
    i) where it should mask (query i, key j). A padding mask, which has one row, then masks whole queries.
    """
    return _fill(scores, None if mask is None else mask.transpose(-2, -1), float("-inf"))


@mistake(replaces="apply_mask", dimension="masking", common=True)
def mask_transposed(scores: Tensor, mask: Tensor | None) -> Tensor:
    """Your mask is transposed.

    You mask the pair (query j, key i) where you should mask (query i, key j). The mask has a row for each query, like
    the scores. Look for a transpose, or for two swapped axes.
    """
    if mask is None or mask.shape[-1] != mask.shape[-2]:
        return _fill(scores, mask, float("-inf"))
    return _fill(scores, mask.transpose(-2, -1), float("-inf"))


@mistake(replaces="apply_mask", dimension="masking", common=True)
def padding_on_the_query_axis(scores: Tensor, mask: Tensor | None) -> Tensor:
    """You apply the padding mask to the queries instead of the keys.

    A mask with one row applies to every query: it says which *keys* are padding. Your code masks whole rows and lets
    the other queries attend to padding. Check where you insert an axis and whether you transpose.
    """
    if mask is None or mask.shape[-2] != 1 or mask.shape[-1] != scores.shape[-2]:
        return _fill(scores, mask, float("-inf"))
    return scores.masked_fill(mask.transpose(-2, -1) == 0, -1e30)


@mistake(replaces="apply_mask", dimension="masking", common=True)
def first_mask_for_all(scores: Tensor, mask: Tensor | None) -> Tensor:
    """You use the mask of the first sequence for all sequences.

    Each sequence of the batch has its own length. Look for an index 0 that removes the batch axis of the mask.
    """
    return _fill(scores, mask if mask is None or mask.dim() < 3 else mask[:1], float("-inf"))


@mistake(replaces="apply_mask", dimension="masking", common=True)
def mask_taken_for_lengths(scores: Tensor, mask: Tensor | None) -> Tensor:
    """You count the visible keys and show as many from the start.

    That is right only while all padding is at the end of a sequence. It can also be at its beginning or between the
    words. Use the mask itself: it says for each key whether it is visible.
    """
    if mask is None:
        return scores
    count = (mask != 0).sum(dim=-1, keepdim=True)
    return scores.masked_fill(torch.arange(mask.shape[-1], device=mask.device) >= count, float("-inf"))


@mistake(replaces="apply_mask", dimension="masking", common=True)
def first_key_always_visible(scores: Tensor, mask: Tensor | None) -> Tensor:
    """The first key is visible in your code, whatever the mask says.

    The first token of a sequence can be padding as well. Look for an index or a range that begins at 1, and for a
    default that shows key 0 so that no row is masked completely.
    """
    if mask is None:
        return scores
    return _fill(scores, torch.cat((torch.ones_like(mask[..., :1]), mask[..., 1:]), dim=-1), float("-inf"))


@mistake(replaces="apply_mask", dimension="masking", common=True)
def masks_the_first_head_only(scores: Tensor, mask: Tensor | None) -> Tensor:
    """You apply the mask to the first head only.

    The other heads attend to everything. The mask must broadcast over the head axis. Check how you index the scores.
    """
    if mask is None:
        return scores
    hidden = (mask == 0).expand_as(scores).clone()
    hidden[:, 1:] = False
    return scores.masked_fill(hidden, float("-inf"))


def _fill(scores: Tensor, mask: Tensor | None, number: float) -> Tensor:
    return scores if mask is None else scores.masked_fill(mask == 0, number)
