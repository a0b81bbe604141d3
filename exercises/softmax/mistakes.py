"""What students get wrong in softmax."""

from __future__ import annotations

import torch
from torch import Tensor

from grader.exercise.mistakes import mistake


@mistake(replaces="shift", dimension="numerics")
def no_shift(x: Tensor, dim: int) -> Tensor:
    """Your exponentials overflow.

    Your weights are right as long as the scores are small. For scores near 10,000 the exponential has no number
    (`inf / inf` is `nan`), and for scores near -10,000 all of them are zero. The quotient stays the same if you
    subtract one number from all scores of a row. Choose one before you take the exponential.
    """
    return x


@mistake(replaces="shift", dimension="numerics")
def shift_by_the_largest_of_all(x: Tensor, dim: int) -> Tensor:
    """You subtract the largest score of the whole tensor, not of each row.

    A row whose scores lie far below the largest score of another row is left with exponentials that are all zero, and
    `0 / 0` is `nan`. Each row needs its own largest score: look at the arguments of your max.
    """
    return x - x.max()


@mistake(replaces="shift", dimension="numerics")
def shift_by_the_mean(x: Tensor, dim: int) -> Tensor:
    """You subtract the mean of each row, not its largest score.

    That helps when all scores of a row are large together. When they lie far apart, the largest is still far above
    the mean and its exponential overflows; and a single -inf makes the mean -inf. Which score of the row bounds all
    others?
    """
    return x - x.mean(dim=dim, keepdim=True)


@mistake(replaces="shift", dimension="numerics")
def shift_by_the_largest_magnitude(x: Tensor, dim: int) -> Tensor:
    """You subtract the largest absolute value, not the largest score.

    For a row of very negative scores that pushes them down even further, until all exponentials are zero; and -inf
    has an absolute value of inf. Drop the absolute value: signs matter here.
    """
    return x - x.abs().amax(dim=dim, keepdim=True)


@mistake(replaces="shift", dimension="numerics")
def clamped_scores(x: Tensor, dim: int) -> Tensor:
    """You cut off large scores instead of shifting them.

    Clamping keeps the exponential finite, but makes all scores beyond the bound equal: a row near 10,000 gets uniform
    weights, and -inf gets a weight above zero. Subtract something from the row instead; that changes no weight.
    """
    return x.clamp(-80.0, 80.0)


@mistake(replaces="shift", dimension="numerics")
def smallest_score_wins(x: Tensor, dim: int) -> Tensor:
    """Your weights are largest where the scores are smallest.

    You take the exponential of the negative scores, as if they were distances. Look at the order of the two terms of
    your subtraction.
    """
    return x.amax(dim=dim, keepdim=True) - x


@mistake(replaces="softmax", dimension="numerics")
def always_along_the_last_axis(x: Tensor, dim: int = -1) -> Tensor:
    """You ignore `dim` and always work along the last axis.

    Your weights are right for dim = -1 and wrong for every other one. Hand `dim` on to each step that reduces an
    axis, the max as well as the sum.
    """
    exponentials = torch.exp(x - x.amax(dim=-1, keepdim=True))
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


@mistake(replaces="softmax", dimension="numerics")
def always_along_the_first_axis(x: Tensor, dim: int = -1) -> Tensor:
    """You ignore `dim` and always work along the first axis.

    Your weights add up to one down the columns, whatever `dim` says, and by default it says -1, the last axis.
    Hand `dim` on to each step that reduces an axis.
    """
    exponentials = torch.exp(x - x.amax(dim=0, keepdim=True))
    return exponentials / exponentials.sum(dim=0, keepdim=True)


@mistake(replaces="normalise", dimension="numerics")
def one_sum_for_everything(x: Tensor, dim: int) -> Tensor:
    """You divide by the sum over the whole tensor.

    All your weights together add up to one; each row's weights should. A sum without an axis adds up every element:
    tell it which axis, and to keep that axis.
    """
    return x / x.sum()


@mistake(replaces="normalise", dimension="numerics")
def no_division(x: Tensor, dim: int) -> Tensor:
    """You never divide by the sum.

    Your largest weight is exactly 1 in every row: what you return are the exponentials themselves, or exponentials
    divided by the largest of them. To add up to one they must be divided by their sum.
    """
    return x


@mistake(replaces="normalise", dimension="numerics")
def epsilon_in_the_denominator(x: Tensor, dim: int) -> Tensor:
    """You add a small number to the denominator.

    Your weights add up to a little less than one. There is nothing to protect against: after the shift the largest
    exponential of a row is 1, so the sum is at least 1.
    """
    return x / (x.sum(dim=dim, keepdim=True) + 1e-6)


@mistake(replaces="softmax", dimension="numerics")
def returns_logarithms(x: Tensor, dim: int = -1) -> Tensor:
    """You return the logarithms of the weights.

    All your numbers are negative or zero, and their exponentials are the right weights. That is what a loss function
    wants; here the weights themselves are asked for.
    """
    shifted = x - x.amax(dim=dim, keepdim=True)
    return shifted - torch.log(torch.exp(shifted).sum(dim=dim, keepdim=True))


@mistake(replaces="exponentiate", dimension="numerics")
def power_of_two(x: Tensor) -> Tensor:
    """You raise 2 to the power of the scores, not e.

    Your weights have the right order and the right sum, but they are too even. Look at the function that you apply to
    the shifted scores.
    """
    return torch.exp2(x)


@mistake(replaces="softmax", dimension="numerics")
def sigmoid_of_each_score(x: Tensor, dim: int = -1) -> Tensor:
    """You squash each score on its own.

    Each of your weights lies between 0 and 1, but they do not share one unit of weight: a sigmoid knows nothing of
    the other scores in the row. Softmax compares each score with all others along `dim`.
    """
    return torch.sigmoid(x)


@mistake(replaces="softmax", dimension="numerics")
def no_exponential(x: Tensor, dim: int = -1) -> Tensor:
    """You divide the scores themselves by their sum.

    Your weights add up to one, but some are negative, and a sum near zero blows them up. Softmax makes every score
    positive first; look at the numerator of the formula.
    """
    return x / x.sum(dim=dim, keepdim=True)


@mistake(replaces="softmax", dimension="numerics")
def rounded_weights(x: Tensor, dim: int = -1) -> Tensor:
    """You round your weights.

    They agree with the right ones to four decimals and no further, and rounding has a gradient of zero everywhere, so
    nothing can be trained through it. Round only what you print.
    """
    exponentials = torch.exp(x - x.amax(dim=dim, keepdim=True))
    return torch.round(exponentials / exponentials.sum(dim=dim, keepdim=True), decimals=4)


@mistake(replaces="shift", dimension="gradients")
def detached_scores(x: Tensor, dim: int) -> Tensor:
    """Your weights are cut off from the scores.

    The weights are right, but no gradient reaches `x`. Somewhere on the way the tensor leaves the graph: look for
    `.detach()`, `.data`, `torch.no_grad()`, `.numpy()`, or a `torch.tensor(...)` around something that is a tensor
    already.
    """
    return x.detach() - x.detach().amax(dim=dim, keepdim=True)


@mistake(replaces="normalise", dimension="gradients")
def detached_sum(x: Tensor, dim: int) -> Tensor:
    """Your denominator is cut off from the scores.

    The weights are right, but their gradient is as if the sum were a constant. Raising one score lowers the other
    weights, and that happens through the sum alone: it must stay in the graph. (Only the number that you subtract may
    be detached; its gradient cancels.)
    """
    return x / x.sum(dim=dim, keepdim=True).detach()


@mistake(replaces="shift", dimension="numerics")
def shift_by_the_smallest(x: Tensor, dim: int) -> Tensor:
    """You subtract the smallest score of each row, not its largest.

    Then no exponential is below one, and those of large scores are infinite; a single -inf makes all of them so. Which
    score of the row bounds all others from above?
    """
    return x - x.amin(dim=dim, keepdim=True)


@mistake(replaces="shift", dimension="numerics")
def infinity_made_finite(x: Tensor, dim: int) -> Tensor:
    """You put a finite number in the place of -inf.

    Nothing shows as long as the other scores lie above it. In a row near -10,000 they do not, and what is hidden gets
    weight. The exponential of -inf is 0 by itself: leave it as it is.
    """
    x = x.masked_fill(x.isinf(), -1e4)
    return x - x.amax(dim=dim, keepdim=True)


@mistake(replaces="softmax", dimension="numerics")
def not_a_number_made_zero(x: Tensor, dim: int = -1) -> Tensor:
    """You put zeros in the place of what is not a number.

    Where exponentials overflow, or are all zero, `nan_to_num` gives zeros: finite, and wrong. With each row's largest
    score subtracted first, nothing overflows and nothing needs to be replaced.
    """
    exponentials = torch.exp(x)
    return torch.nan_to_num(exponentials / exponentials.sum(dim=dim, keepdim=True))


@mistake(replaces="normalise", dimension="numerics")
def sums_along_the_last_axis(x: Tensor, dim: int) -> Tensor:
    """You ignore `dim` where you add up.

    The sum runs along the last axis, whatever `dim` says. Hand `dim` on to each step that reduces an axis.
    """
    return x / x.sum(dim=-1, keepdim=True)


@mistake(replaces="softmax", dimension="numerics")
def sigmoids_over_their_sum(x: Tensor, dim: int = -1) -> Tensor:
    """You take sigmoids, and divide them by their sum.

    Your weights add up to one, but a sigmoid is not an exponential: it cannot tell large scores from each other.
    """
    squashed = torch.sigmoid(x)
    return squashed / squashed.sum(dim=dim, keepdim=True)


@mistake(replaces="exponentiate", dimension="numerics")
def scores_halved(x: Tensor) -> Tensor:
    """You divide the scores by two.

    Your weights have the right order and the right sum, but they are too even. Nothing is divided before the
    exponential: a temperature is another function's business.
    """
    return torch.exp(x / 2)


@mistake(replaces="softmax", dimension="numerics")
def smallest_score_weighs_most(x: Tensor, dim: int = -1) -> Tensor:
    """You take the exponential of the negative scores.

    The smallest score gets the largest weight. Look for a minus sign within the exponential.
    """
    exponentials = torch.exp(x.amin(dim=dim, keepdim=True) - x)
    return exponentials / exponentials.sum(dim=dim, keepdim=True)


@mistake(replaces="shift", dimension="numerics")
def shift_along_the_first_axis(x: Tensor, dim: int) -> Tensor:
    """You ignore `dim` where you look for the largest score.

    The max runs along the first axis, whatever `dim` says, so the scores of one row are lowered by different amounts.
    Hand `dim` on to each step that reduces an axis.
    """
    return x - x.amax(dim=0, keepdim=True)


@mistake(replaces="normalise", dimension="numerics")
def tiny_epsilon_in_the_denominator(x: Tensor, dim: int) -> Tensor:
    """You add a tiny number to the denominator.

    Your weights add up to a hair less than one. There is nothing to protect against: after the shift the largest
    exponential of a row is 1, so the sum is at least 1.
    """
    return x / (x.sum(dim=dim, keepdim=True) + 1e-8)
