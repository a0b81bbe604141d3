"""What students get wrong in softmax."""

from __future__ import annotations

import torch
from torch import Tensor

from grader.exercise.mistakes import mistake


@mistake(replaces="shift", dimension="numerics")
def no_shift(x: Tensor, dim: int) -> Tensor:
    """Your exponentials overflow.

    Your weights are right for small scores. For scores near 10,000 the exponential overflows (`inf / inf` is `nan`),
    and for scores near -10,000 all exponentials are zero. The weights do not change if you subtract the same number
    from all scores of a row. Choose one before you take the exponential.
    """
    return x


@mistake(replaces="shift", dimension="numerics")
def shift_by_the_largest_of_all(x: Tensor, dim: int) -> Tensor:
    """You subtract the largest score of the whole tensor, not of each row.

    If all scores of a row are far below the largest score of another row, all exponentials of that row are zero, and `0
    / 0` is `nan`. Subtract each row's own largest score: check the arguments of your max.
    """
    return x - x.max()


@mistake(replaces="shift", dimension="numerics")
def shift_by_the_mean(x: Tensor, dim: int) -> Tensor:
    """You subtract the mean of each row, not its largest score.

    That helps when all scores of a row are large. When they are far apart, the largest is still far above the mean and
    its exponential overflows; and a single -inf makes the mean -inf. Which score of the row is an upper bound for all
    others?
    """
    return x - x.mean(dim=dim, keepdim=True)


@mistake(replaces="shift", dimension="numerics")
def shift_by_the_largest_magnitude(x: Tensor, dim: int) -> Tensor:
    """You subtract the largest absolute value, not the largest score.

    For a row of very negative scores that makes them even more negative, until all exponentials are zero; and the
    absolute value of -inf is inf. Do not take the absolute value.
    """
    return x - x.abs().amax(dim=dim, keepdim=True)


@mistake(replaces="shift", dimension="numerics")
def clamped_scores(x: Tensor, dim: int) -> Tensor:
    """You clamp large scores instead of shifting them.

    Clamping keeps the exponential finite, but makes all scores beyond the bound equal: a row near 10,000 gets uniform
    weights, and -inf gets a weight above zero. Subtract a number from the row instead; that changes no weight.
    """
    return x.clamp(-80.0, 80.0)


@mistake(replaces="shift", dimension="numerics")
def smallest_score_wins(x: Tensor, dim: int) -> Tensor:
    """Your weights are largest where the scores are smallest.

    You take the exponential of the negated scores. Check the order of the two terms in your subtraction.
    """
    return x.amax(dim=dim, keepdim=True) - x


@mistake(replaces="softmax", dimension="numerics")
def always_along_the_last_axis(x: Tensor, dim: int = -1) -> Tensor:
    """You ignore `dim` and always use the last axis.

    Your weights are right for dim = -1 and wrong for every other value. Pass `dim` to every reduction: the max and the
    sum.
    """
    exponentials = torch.exp(x - x.amax(dim=-1, keepdim=True))
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


@mistake(replaces="softmax", dimension="numerics")
def always_along_the_first_axis(x: Tensor, dim: int = -1) -> Tensor:
    """You ignore `dim` and always use the first axis.

    Your weights add up to one along axis 0 for every `dim`; the default is -1, the last axis. Pass `dim` to every
    reduction: the max and the sum.
    """
    exponentials = torch.exp(x - x.amax(dim=0, keepdim=True))
    return exponentials / exponentials.sum(dim=0, keepdim=True)


@mistake(replaces="normalise", dimension="numerics")
def one_sum_for_everything(x: Tensor, dim: int) -> Tensor:
    """You divide by the sum over the whole tensor.

    All your weights together add up to one; each row must. A sum without an axis sums all elements: pass `dim` and
    `keepdim=True`.
    """
    return x / x.sum()


@mistake(replaces="normalise", dimension="numerics")
def no_division(x: Tensor, dim: int) -> Tensor:
    """You do not divide by the sum.

    You return the exponentials, so the largest one of each row is exactly 1. Divide them by their sum, so that they add
    up to one.
    """
    return x


@mistake(replaces="normalise", dimension="numerics")
def epsilon_in_the_denominator(x: Tensor, dim: int) -> Tensor:
    """You add a small number to the denominator.

    Your weights add up to slightly less than one. It is not needed: after the shift the largest exponential of a row is
    1, so the sum is at least 1.
    """
    return x / (x.sum(dim=dim, keepdim=True) + 1e-6)


@mistake(replaces="softmax", dimension="numerics")
def returns_logarithms(x: Tensor, dim: int = -1) -> Tensor:
    """You return the logarithms of the weights.

    All your numbers are negative or zero, and their exponentials are the right weights. Return the weights themselves.
    """
    shifted = x - x.amax(dim=dim, keepdim=True)
    return shifted - torch.log(torch.exp(shifted).sum(dim=dim, keepdim=True))


@mistake(replaces="exponentiate", dimension="numerics")
def power_of_two(x: Tensor) -> Tensor:
    """You use powers of 2 instead of e.

    Your weights have the right order and add up to one, but they are too uniform. Check the function that you apply to
    the shifted scores.
    """
    return torch.exp2(x)


@mistake(replaces="softmax", dimension="numerics")
def sigmoid_of_each_score(x: Tensor, dim: int = -1) -> Tensor:
    """You apply a sigmoid to each score.

    Each of your weights is between 0 and 1, but a row does not add up to one: a sigmoid does not depend on the other
    scores. Softmax compares each score with all others along `dim`.
    """
    return torch.sigmoid(x)


@mistake(replaces="softmax", dimension="numerics")
def no_exponential(x: Tensor, dim: int = -1) -> Tensor:
    """You divide the scores themselves by their sum.

    Your weights add up to one, but some are negative, and a sum near zero makes them huge. Take the exponential of
    every score first.
    """
    return x / x.sum(dim=dim, keepdim=True)


@mistake(replaces="softmax", dimension="numerics")
def rounded_weights(x: Tensor, dim: int = -1) -> Tensor:
    """You round your weights.

    They are right to four decimal places only, and rounding has gradient zero, so nothing before it could be trained.
    Round only for printing.
    """
    exponentials = torch.exp(x - x.amax(dim=dim, keepdim=True))
    return torch.round(exponentials / exponentials.sum(dim=dim, keepdim=True), decimals=4)


@mistake(replaces="shift", dimension="gradients")
def detached_scores(x: Tensor, dim: int) -> Tensor:
    """Your weights are detached from the scores.

    The weights are right, but no gradient reaches `x`. Look for `.detach()`, `.data`, `torch.no_grad()`, `.numpy()`, or
    a `torch.tensor(...)` around something that is already a tensor.
    """
    return x.detach() - x.detach().amax(dim=dim, keepdim=True)


@mistake(replaces="normalise", dimension="gradients")
def detached_sum(x: Tensor, dim: int) -> Tensor:
    """Your denominator is detached from the scores.

    The weights are right, but their gradient is computed as if the sum were constant. Raising one score lowers the
    other weights, and that part of the gradient flows through the sum. (Only the number that you subtract may be
    detached; its gradient cancels.)
    """
    return x / x.sum(dim=dim, keepdim=True).detach()


@mistake(replaces="shift", dimension="numerics")
def shift_by_the_smallest(x: Tensor, dim: int) -> Tensor:
    """You subtract the smallest score of each row, not its largest.

    Then all exponentials are at least 1, and those of large scores are infinite; a single -inf makes all of them
    infinite. Which score of the row is an upper bound for all others?
    """
    return x - x.amin(dim=dim, keepdim=True)


@mistake(replaces="shift", dimension="numerics")
def infinity_made_finite(x: Tensor, dim: int) -> Tensor:
    """You replace -inf with a finite number.

    That works only if the other scores are above that number. In a row near -10,000 they are not, and masked entries
    get weight. The exponential of -inf is already 0: leave it unchanged.
    """
    x = x.masked_fill(x.isinf(), -1e4)
    return x - x.amax(dim=dim, keepdim=True)


@mistake(replaces="softmax", dimension="numerics")
def not_a_number_made_zero(x: Tensor, dim: int = -1) -> Tensor:
    """You replace NaN with zero.

    If exponentials overflow, or are all zero, `nan_to_num` gives zeros: finite but wrong. Subtract each row's largest
    score first; then nothing overflows.
    """
    exponentials = torch.exp(x)
    return torch.nan_to_num(exponentials / exponentials.sum(dim=dim, keepdim=True))


@mistake(replaces="normalise", dimension="numerics")
def sums_along_the_last_axis(x: Tensor, dim: int) -> Tensor:
    """You ignore `dim` in the sum.

    You always sum along the last axis. Pass `dim` to every reduction: the max and the sum.
    """
    return x / x.sum(dim=-1, keepdim=True)


@mistake(replaces="softmax", dimension="numerics")
def sigmoids_over_their_sum(x: Tensor, dim: int = -1) -> Tensor:
    """You divide sigmoids by their sum.

    Your weights add up to one, but a sigmoid is not an exponential: all large scores give values close to 1.
    """
    squashed = torch.sigmoid(x)
    return squashed / squashed.sum(dim=dim, keepdim=True)


@mistake(replaces="exponentiate", dimension="numerics")
def scores_halved(x: Tensor) -> Tensor:
    """You divide the scores by 2.

    Your weights have the right order and add up to one, but they are too uniform. There is no scaling and no
    temperature here.
    """
    return torch.exp(x / 2)


@mistake(replaces="softmax", dimension="numerics")
def smallest_score_weighs_most(x: Tensor, dim: int = -1) -> Tensor:
    """You take the exponential of the negated scores.

    The smallest score gets the largest weight. Look for a minus sign inside the exponential.
    """
    exponentials = torch.exp(x.amin(dim=dim, keepdim=True) - x)
    return exponentials / exponentials.sum(dim=dim, keepdim=True)


@mistake(replaces="shift", dimension="numerics")
def shift_along_the_first_axis(x: Tensor, dim: int) -> Tensor:
    """You ignore `dim` in the max.

    You always take the maximum along the first axis, so you subtract different numbers from the scores of one row. Pass
    `dim` to every reduction: the max and the sum.
    """
    return x - x.amax(dim=0, keepdim=True)


@mistake(replaces="normalise", dimension="numerics")
def tiny_epsilon_in_the_denominator(x: Tensor, dim: int) -> Tensor:
    """You add a tiny number to the denominator.

    Your weights add up to very slightly less than one. It is not needed: after the shift the largest exponential of a
    row is 1, so the sum is at least 1.
    """
    return x / (x.sum(dim=dim, keepdim=True) + 1e-8)
