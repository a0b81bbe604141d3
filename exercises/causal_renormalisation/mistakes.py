"""What students get wrong when they take the future out of finished weights."""

from __future__ import annotations

import torch
from torch import Tensor

from grader.exercise.mistakes import mistake


@mistake(replaces="visible", dimension="masking")
def no_mask(weights: Tensor) -> Tensor:
    """Nothing is hidden: every position keeps its weight in the future.

    If there is a mask in your code, its result is lost: `masked_fill` and `tril` return a new tensor, and leave the old
    one as it is.
    """
    return torch.ones(weights.shape[-2:], dtype=torch.bool)


@mistake(replaces="visible", dimension="masking")
def sees_one_ahead(weights: Tensor) -> Tensor:
    """Your mask starts one position too late.

    Every position keeps its weight for one position of its future. Check the diagonal from which your triangle starts:
    in row i, column i + 1 is the first to be zero.
    """
    return torch.ones(weights.shape[-2:], dtype=torch.bool).tril(diagonal=1)


@mistake(replaces="visible", dimension="masking")
def hides_itself(weights: Tensor) -> Tensor:
    """Your mask takes the diagonal away as well.

    No position sees itself, and nothing at all is left of row 0: zero divided by zero is NaN. Check the diagonal from
    which your triangle starts; the first zero of row i stands in column i + 1.
    """
    return torch.ones(weights.shape[-2:], dtype=torch.bool).tril(diagonal=-1)


@mistake(replaces="visible", dimension="masking")
def hides_the_past(weights: Tensor) -> Tensor:
    """You take the past away and keep the future.

    Your triangle is the other one: `tril` keeps what lies below the diagonal, `triu` what lies above it. Decide whether
    True in your mask means "goes" or "stays", and check every line that uses it.
    """
    return torch.ones(weights.shape[-2:], dtype=torch.bool).triu()


@mistake(replaces="visible", dimension="masking")
def sees_itself_only(weights: Tensor) -> Tensor:
    """You take the past away along with the future.

    Every position keeps itself alone, so its weight is always one. Two masks of yours may be at work at once.
    """
    return torch.eye(weights.shape[-1], dtype=torch.bool)


@mistake(replaces="visible", dimension="shapes")
def mask_as_long_as_the_first_axis(weights: Tensor) -> Tensor:
    """Your mask is as long as the first axis, which need not be the positions.

    With a batch in front, the first axis counts sequences. Count axes from the end: the last two are always queries and
    keys.
    """
    return torch.ones(len(weights), len(weights), dtype=torch.bool).tril()


@mistake(replaces="hide", dimension="masking")
def masks_the_first_only(weights: Tensor, allowed: Tensor) -> Tensor:
    """You hide the future in the first table of a batch only.

    The other sequences still look ahead. A mask of T rows and T columns broadcasts over all leading axes by itself; see
    where you pick an index.
    """
    if weights.dim() < 3:
        return weights.masked_fill(~allowed, 0.0)
    return torch.cat([weights[:1].masked_fill(~allowed, 0.0), weights[1:]])


@mistake(replaces="hide", dimension="masking")
def minus_infinity_for_a_weight(weights: Tensor, allowed: Tensor) -> Tensor:
    """You fill weights with -inf.

    That belongs to scores, before a softmax. These are weights: a sum with -inf in it is -inf, and -inf divided by
    itself is NaN. Which weight has a position that nobody looks at?
    """
    return weights.masked_fill(~allowed, float("-inf"))


@mistake(replaces="renormalise_causal", dimension="numerics")
def softmax_once_more(weights: Tensor) -> Tensor:
    """You take a softmax of the weights.

    They are weights already: a second softmax takes exponentials of numbers between 0 and 1 and makes the rows nearly
    even. To make a row add up to one, and keep its proportions, a division is enough.
    """
    time = weights.shape[-1]
    future = torch.ones(time, time, dtype=torch.bool).triu(diagonal=1)
    return torch.softmax(weights.masked_fill(future, float("-inf")), dim=-1)


@mistake(replaces="share_out", dimension="masking")
def softmax_over_zeros(weights: Tensor, sums: Tensor) -> Tensor:
    """You take a softmax after setting the future to zero.

    To a softmax, zero is a score like any other: its exponential is one, so the future gets weight again. Your rows
    need a division and no softmax.
    """
    return torch.softmax(weights, dim=-1)


@mistake(replaces="share_out", dimension="numerics")
def not_renormalised(weights: Tensor, sums: Tensor) -> Tensor:
    """Your rows no longer add up to one.

    The future had its share of each row, and what is left misses it. A second step has to make up for that; if it is
    there, see whether its result is used.
    """
    return weights


@mistake(replaces="renormalise_causal", dimension="numerics")
def renormalised_too_early(weights: Tensor) -> Tensor:
    """You divide by the sums of the rows before the future is gone.

    At that point every row adds up to one, and dividing by one changes nothing. First take the future out, then look at
    what is left of each row.
    """
    return (weights / weights.sum(dim=-1, keepdim=True)).tril()


@mistake(replaces="share_out", dimension="numerics")
def multiplied_by_the_sum(weights: Tensor, sums: Tensor) -> Tensor:
    """You multiply each row by its sum, where it is to be divided.

    What is left of a row is too small, and multiplying by a number below one makes it smaller still.
    """
    return weights * sums


@mistake(replaces="totals", dimension="numerics")
def sums_of_columns(weights: Tensor) -> Tensor:
    """You divide by the sums of the columns.

    A column says how much a key gets from all queries. It is each query that shares out one unit of weight: which of
    the last two axes has to be summed over?
    """
    return weights.sum(dim=-2, keepdim=True)


@mistake(replaces="totals", dimension="numerics")
def sums_over_axis_one(weights: Tensor) -> Tensor:
    """You sum over axis 1, which counts the keys only if there is no batch.

    For a single table your rows are right. With axes in front, axis 1 is another one. Count from the end.
    """
    return weights.sum(dim=1, keepdim=True)


@mistake(replaces="totals", dimension="numerics")
def sums_over_axis_two(weights: Tensor) -> Tensor:
    """You sum over axis 2, which counts the keys only with exactly one axis in front.

    Without a batch there is no axis 2, and with heads it counts the queries. Count from the end.
    """
    return weights.sum(dim=2, keepdim=True)


@mistake(replaces="totals", dimension="numerics")
def one_sum_for_everything(weights: Tensor) -> Tensor:
    """You divide by the sum of all weights.

    All your weights together add up to one; each row's should. A sum without an axis adds up everything.
    """
    return weights.sum()


@mistake(replaces="totals", dimension="numerics")
def sums_lose_their_axis(weights: Tensor) -> Tensor:
    """Your sums do not meet the rows that they belong to.

    A sum drops the axis that it runs over, so the sums line up with the columns when you divide, or with nothing. An
    argument of `sum` keeps the axis.
    """
    return weights.sum(dim=-1)


@mistake(replaces="totals", dimension="numerics")
def counts_positions(weights: Tensor) -> Tensor:
    """You divide each row by the number of positions that it sees.

    That gives means, and the rows add up to anything. What has to be made up for is how much weight is left, not how
    many weights.
    """
    counts = torch.arange(1, weights.shape[-1] + 1, dtype=weights.dtype)
    return counts.unsqueeze(-1).expand(*weights.shape[:-1], 1)


@mistake(replaces="totals", dimension="numerics")
def largest_instead_of_the_sum(weights: Tensor) -> Tensor:
    """You divide each row by its largest weight.

    The largest becomes one, and the row adds up to more than that. It is the sum that has to become one.
    """
    return weights.amax(dim=-1, keepdim=True)


@mistake(replaces="totals", dimension="numerics")
def length_instead_of_the_sum(weights: Tensor) -> Tensor:
    """You divide each row by its length as a vector.

    The squares of your weights add up to one, and the weights to more. `F.normalize` and `norm` take the root of a sum
    of squares, unless they are told to take another norm.
    """
    return torch.linalg.vector_norm(weights, dim=-1, keepdim=True)


@mistake(replaces="totals", dimension="numerics")
def epsilon_in_the_denominator(weights: Tensor) -> Tensor:
    """You add a small number to the sums.

    Your rows add up to a little less than one, and to much less where little of a row is left. There is nothing to
    protect against: every row keeps some weight, its own at least.
    """
    return weights.sum(dim=-1, keepdim=True) + 1e-9


@mistake(replaces="totals", dimension="numerics")
def larger_epsilon_in_the_denominator(weights: Tensor) -> Tensor:
    """You add a number to the sums that is not small enough to be overlooked.

    Rows of which little is left add up to much less than one. There is nothing to protect against: every row keeps
    some weight, its own at least.
    """
    return weights.sum(dim=-1, keepdim=True) + 1e-6


@mistake(replaces="share_out", dimension="numerics")
def the_rest_shared_evenly(weights: Tensor, sums: Tensor) -> Tensor:
    """You share what the future had evenly among the visible positions.

    Your rows add up to one, but their proportions have changed: a position with twice the weight of another must still
    have twice as much. Adding does not keep that.
    """
    allowed = torch.ones_like(weights).tril()
    return weights + (1 - sums) * allowed / allowed.sum(dim=-1, keepdim=True)


@mistake(replaces="share_out", dimension="numerics")
def the_rest_to_itself(weights: Tensor, sums: Tensor) -> Tensor:
    """You give what the future had to the position itself.

    Your rows add up to one, but only the diagonal has grown. All visible weights of a row have to grow by one factor.
    """
    return weights + (1 - sums) * torch.eye(weights.shape[-1], dtype=weights.dtype)


@mistake(replaces="renormalise_causal", dimension="gradients")
def one_minus_the_future(weights: Tensor) -> Tensor:
    """The future has a part in your gradient.

    You divide by one less what the future had. That is the right number only because the row added up to one before,
    and the gradient does not know it: it goes to the hidden weights. Divide by the sum of what is left.
    """
    return weights.tril() / (1 - weights.triu(diagonal=1).sum(dim=-1, keepdim=True))


@mistake(replaces="totals", dimension="gradients")
def sums_cut_off(weights: Tensor) -> Tensor:
    """Your sums are cut off from the weights.

    The output is right, but its gradient is as if the sum of a row were a constant. Raising one weight lowers the
    shares of the others, and that happens through the sum alone: it must stay in the graph.
    """
    return weights.sum(dim=-1, keepdim=True).detach()


@mistake(replaces="hide", dimension="gradients")
def weights_cut_off(weights: Tensor, allowed: Tensor) -> Tensor:
    """No gradient comes back to the weights.

    The output is right, but nothing before it can learn. Look for `detach()`, `.data`, `no_grad`, `numpy()` or a
    `torch.tensor(...)` round something that was computed.
    """
    return weights.detach().masked_fill(~allowed, 0.0)


@mistake(replaces="share_out", dimension="shapes")
def returns_the_sums_too(weights: Tensor, sums: Tensor) -> tuple[Tensor, Tensor]:
    """You return two things, where the causal weights alone are asked for.

    Whoever uses the result multiplies it with the values at once. Return one tensor.
    """
    return weights / sums, sums


@mistake(replaces="share_out", dimension="shapes")
def squeezed(weights: Tensor, sums: Tensor) -> Tensor:
    """You drop axes of size one.

    A batch of one sequence, or a sequence of one position, is still a batch or a sequence. `squeeze` without an axis
    takes them all away.
    """
    return (weights / sums).squeeze()


@mistake(replaces="share_out", dimension="numerics")
def first_row_left_out(weights: Tensor, sums: Tensor) -> Tensor:
    """You leave the first row as it is.

    It has the most to make up for: all its weight but one had lain in the future, and what is left becomes one.
    """
    return torch.cat([weights[..., :1, :], (weights / sums)[..., 1:, :]], dim=-2)


@mistake(replaces="share_out", dimension="numerics")
def rounded(weights: Tensor, sums: Tensor) -> Tensor:
    """You round your weights.

    They agree with the right ones to four decimals and no further, and rounding passes no gradient on. Round only what
    you print.
    """
    return (weights / sums).round(decimals=4)


@mistake(replaces="share_out", dimension="numerics")
def sums_bounded_from_below(weights: Tensor, sums: Tensor) -> Tensor:
    """You keep the sums from falling below a bound.

    A row may be left with very little, and then the bound is larger than its sum. Every row has some weight left, so
    nothing has to be protected.
    """
    return weights / sums.clamp(min=1e-4)


@mistake(replaces="hide", dimension="masking")
def divided_by_the_mask(weights: Tensor, allowed: Tensor) -> Tensor:
    """You divide by the mask.

    Where it is 0 that gives infinity, and infinity times zero is NaN. Multiply by the mask, or choose with it.
    """
    return weights / allowed * allowed


@mistake(replaces="hide", dimension="numerics")
def evenly_over_the_past(weights: Tensor, allowed: Tensor) -> Tensor:
    """You share each row out evenly over what may be seen.

    The rows add up to one, but the weights that you were given have no say in them. It is those that are asked for,
    divided by what is left of their row.
    """
    return allowed.to(weights.dtype).expand_as(weights)
