"""What goes wrong where a mask says who may attend to whom: True or 1 where the query may, None for everywhere."""

from __future__ import annotations

from torch import Tensor

from grader.exercise.mistakes import mistake


@mistake(replaces="apply_mask", dimension="masking")
def mask_ignored(scores: Tensor, mask: Tensor | None) -> Tensor:
    """Your mask has no effect.

    With a mask your output is the same as without one. Either it is not used, or the result of the masking is thrown
    away: `masked_fill` returns a new tensor and leaves the old one as it was.
    """
    return scores


@mistake(replaces="apply_mask", dimension="masking")
def mask_inverted(scores: Tensor, mask: Tensor | None) -> Tensor:
    """You hide what may be seen, and see what is hidden.

    True in the mask means that the query may attend. `masked_fill` fills where its mask is True. Compare the two
    sentences.
    """
    return scores if mask is None else scores.masked_fill(mask != 0, float("-inf"))


@mistake(replaces="apply_mask", dimension="masking")
def mask_inverted_with_a_large_number(scores: Tensor, mask: Tensor | None) -> Tensor:
    """You hide what may be seen, with a large negative number.

    True in the mask means that the query may attend, and you fill exactly there. A query that may see everything then
    shares its attention out evenly, because all its scores are the same number. Which entries does your fill take?
    """
    return scores if mask is None else scores.masked_fill(mask != 0, -1e9)


@mistake(replaces="apply_mask", dimension="masking")
def mask_added(scores: Tensor, mask: Tensor | None) -> Tensor:
    """You add the mask to the scores as zeros and ones.

    That raises the visible scores by 1 and hides nothing. What is added where a key is hidden must be so low that no
    weight is left after the softmax.
    """
    return scores if mask is None else scores + mask


@mistake(replaces="apply_mask", dimension="masking")
def hidden_scores_are_zero(scores: Tensor, mask: Tensor | None) -> Tensor:
    """You set hidden scores to zero.

    A score of 0 is an ordinary score: its exponential is 1, and the key gets weight, often more than the visible
    ones. The same happens if you multiply the scores by the mask, or fill with `finfo.tiny`, a number just above
    zero.
    """
    return _fill(scores, mask, 0.0)


@mistake(replaces="apply_mask", dimension="masking")
def hidden_scores_are_minus_one(scores: Tensor, mask: Tensor | None) -> Tensor:
    """You set hidden scores to -1.

    That is an ordinary score: its exponential is more than a third. Which score gets no weight at all?
    """
    return _fill(scores, mask, -1.0)


@mistake(replaces="apply_mask", dimension="masking")
def hidden_scores_are_minus_ten(scores: Tensor, mask: Tensor | None) -> Tensor:
    """You fill hidden scores with a number that is not low enough.

    With -10 a hidden key keeps a small weight, and a large one where the visible scores are low themselves. Is there
    a number below all others?
    """
    return _fill(scores, mask, -10.0)


@mistake(replaces="apply_mask", dimension="masking")
def hidden_scores_are_minus_twenty(scores: Tensor, mask: Tensor | None) -> Tensor:
    """You fill hidden scores with -20, which is not low enough.

    A hidden key keeps a weight of some billionths, and a large one where the visible scores are low themselves. Is
    there a number below all others?
    """
    return _fill(scores, mask, -20.0)


@mistake(replaces="apply_mask", dimension="masking")
def hidden_scores_are_minus_ten_thousand(scores: Tensor, mask: Tensor | None) -> Tensor:
    """Your fill value is within the reach of scores.

    As long as the visible scores are moderate nothing shows. Where all of them lie below your fill, say -100 or
    -10,000, the hidden keys have the largest scores and take all the weight. Is there a number below all others?
    """
    return _fill(scores, mask, -1e4)


@mistake(replaces="apply_mask", dimension="masking")
def hidden_scores_are_huge(scores: Tensor, mask: Tensor | None) -> Tensor:
    """You fill hidden scores with a large positive number.

    A softmax gives the most to the largest scores, so all of the attention goes to what should be hidden. The number
    needs a minus, and best is `float("-inf")`.
    """
    return _fill(scores, mask, 1e9)


@mistake(replaces="apply_mask", dimension="masking")
def zero_times_infinity(scores: Tensor, mask: Tensor | None) -> Tensor:
    """You multiply zeros by -inf.

    Turning the mask into numbers and multiplying by -inf gives -inf where it should, but 0 times -inf is `nan`, not
    0, and one `nan` spoils the whole row. Choose between two values instead of computing one.
    """
    return scores if mask is None else scores + (mask == 0) * float("-inf")


@mistake(replaces="apply_mask", dimension="masking")
def a_number_added_where_hidden(scores: Tensor, mask: Tensor | None) -> Tensor:
    """What you add to hidden scores is not low enough.

    With a term such as -100, -10,000 or log(1e-45) nothing shows as long as the hidden scores are not above the visible
    ones. A hidden key that outscores them by more takes their weight. Which number is low enough for any score?
    """
    return scores if mask is None else scores + (mask == 0) * -1e4


@mistake(replaces="apply_mask", dimension="masking")
def zeros_taken_for_hidden(scores: Tensor, mask: Tensor | None) -> Tensor:
    """You take a score of zero for a hidden one.

    After the product of scores and mask you fill wherever there is a 0. A visible score can be zero as well: a token of
    zeros has no other. Ask the mask which keys are hidden, not the scores.
    """
    if mask is None:
        return scores
    shown = scores * mask
    return shown.masked_fill(shown == 0, float("-inf"))


@mistake(replaces="apply_mask", dimension="masking")
def an_axis_too_many(scores: Tensor, mask: Tensor | None) -> Tensor:
    """You give the mask an axis that it has already.

    `mask.unsqueeze(1)` makes room for heads in a mask of (B, T_q, T_k). Here the mask broadcasts against the scores as
    it is; one more axis sets its batch beside another axis of the scores, or adds an axis to your output.
    """
    return _fill(scores, None if mask is None else mask.unsqueeze(1), float("-inf"))


@mistake(replaces="apply_mask", dimension="masking")
def every_mask_transposed(scores: Tensor, mask: Tensor | None) -> Tensor:
    """You transpose the mask, whatever its shape.

    A mask has a row for each query and a column for each key, as the scores have. Transposed, it hides from key j what
    it should hide from query j; a mask with one row, as padding has, blanks whole queries.
    """
    return _fill(scores, None if mask is None else mask.transpose(-2, -1), float("-inf"))


@mistake(replaces="apply_mask", dimension="masking")
def mask_transposed(scores: Tensor, mask: Tensor | None) -> Tensor:
    """Your mask lies on its side.

    What you hide from query i at key j should be hidden from query j at key i. The mask has a row for each query, as
    the scores have: look for a transpose, or for two axes that changed places.
    """
    if mask is None or mask.shape[-1] != mask.shape[-2]:
        return _fill(scores, mask, float("-inf"))
    return _fill(scores, mask.transpose(-2, -1), float("-inf"))


@mistake(replaces="apply_mask", dimension="masking")
def padding_on_the_query_axis(scores: Tensor, mask: Tensor | None) -> Tensor:
    """Your padding mask falls on the queries, not on the keys.

    A mask with one row is meant for every query: it says which *keys* are padding. Yours blanks whole rows and lets
    the other queries see the padding. Look at where you insert an axis, and at whether you transpose.
    """
    if mask is None or mask.shape[-2] != 1 or mask.shape[-1] != scores.shape[-2]:
        return _fill(scores, mask, float("-inf"))
    return scores.masked_fill(mask.transpose(-2, -1) == 0, -1e30)


@mistake(replaces="apply_mask", dimension="masking")
def first_mask_for_all(scores: Tensor, mask: Tensor | None) -> Tensor:
    """All your sequences get the mask of the first.

    Each sequence of the batch has a length of its own. Look for an index 0 that takes the batch axis of the mask away.
    """
    return _fill(scores, mask if mask is None or mask.dim() < 3 else mask[:1], float("-inf"))


@mistake(replaces="apply_mask", dimension="masking")
def masks_the_first_head_only(scores: Tensor, mask: Tensor | None) -> Tensor:
    """Your mask reaches the first head only.

    The other heads see everything. The mask has to broadcast over the head axis; look at how you index the scores.
    """
    if mask is None:
        return scores
    hidden = (mask == 0).expand_as(scores).clone()
    hidden[:, 1:] = False
    return scores.masked_fill(hidden, float("-inf"))


def _fill(scores: Tensor, mask: Tensor | None, number: float) -> Tensor:
    return scores if mask is None else scores.masked_fill(mask == 0, number)
