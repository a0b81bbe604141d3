"""What students get wrong when they take the future out of finished weights."""

from __future__ import annotations

import torch
from torch import Tensor

from grader.exercise.mistakes import mistake


@mistake(replaces="visible", dimension="masking")
def no_mask(weights: Tensor) -> Tensor:
    """Nothing is masked: every position keeps its weights for the future.

    If your code builds a mask, its result may be unused: `masked_fill` and `tril` return a new tensor and do not change
    the old one.
    """
    return torch.ones(weights.shape[-2:], dtype=torch.bool)


@mistake(replaces="visible", dimension="masking")
def sees_one_ahead(weights: Tensor) -> Tensor:
    """Your mask starts one position too late.

    Every position keeps the weight of one future position. Check the diagonal from which your triangle starts: in row
    i, column i + 1 is the first one that must be zero.
    """
    return torch.ones(weights.shape[-2:], dtype=torch.bool).tril(diagonal=1)


@mistake(replaces="visible", dimension="masking")
def hides_itself(weights: Tensor) -> Tensor:
    """Your mask also removes the diagonal.

    No position attends to itself, and nothing is left of row 0: zero divided by zero is NaN. Check the diagonal from
    which your triangle starts; the first zero of row i is in column i + 1.
    """
    return torch.ones(weights.shape[-2:], dtype=torch.bool).tril(diagonal=-1)


@mistake(replaces="visible", dimension="masking")
def hides_the_past(weights: Tensor) -> Tensor:
    """You remove the past and keep the future.

    You use the wrong triangle: `tril` keeps the entries on and below the diagonal, `triu` those on and above it. Decide
    whether True in your mask means "remove" or "keep", and check every line that uses it.
    """
    return torch.ones(weights.shape[-2:], dtype=torch.bool).triu()


@mistake(replaces="visible", dimension="masking")
def sees_itself_only(weights: Tensor) -> Tensor:
    """You remove the past as well as the future.

    Every position attends only to itself, so that weight is always one. Check whether you apply two masks.
    """
    return torch.eye(weights.shape[-1], dtype=torch.bool)


@mistake(replaces="visible", dimension="shapes")
def mask_as_long_as_the_first_axis(weights: Tensor) -> Tensor:
    """You take the size of your mask from the first axis.

    With a batch axis in front, the first axis counts sequences. Count axes from the end: the last two are always
    queries and keys.
    """
    return torch.ones(len(weights), len(weights), dtype=torch.bool).tril()


@mistake(replaces="hide", dimension="masking")
def masks_the_first_only(weights: Tensor, allowed: Tensor) -> Tensor:
    """You mask the future in the first sequence of the batch only.

    The other sequences still attend to the future. A mask of shape (T, T) broadcasts over all leading axes. Check where
    you use an index.
    """
    if weights.dim() < 3:
        return weights.masked_fill(~allowed, 0.0)
    return torch.cat([weights[:1].masked_fill(~allowed, 0.0), weights[1:]])


@mistake(replaces="hide", dimension="masking")
def minus_infinity_for_a_weight(weights: Tensor, allowed: Tensor) -> Tensor:
    """You fill attention weights with -inf.

    -inf is for scores, before a softmax. These are weights: a sum that contains -inf is -inf, and -inf divided by
    itself is NaN. What is the weight of a position that gets no attention?
    """
    return weights.masked_fill(~allowed, float("-inf"))


@mistake(replaces="renormalise_causal", dimension="numerics")
def softmax_once_more(weights: Tensor) -> Tensor:
    """You apply a softmax to the weights.

    A second softmax uses the exponentials of numbers between 0 and 1, so the rows become nearly uniform. To make a row
    add up to one and keep its proportions, a division is enough.
    """
    time = weights.shape[-1]
    future = torch.ones(time, time, dtype=torch.bool).triu(diagonal=1)
    return torch.softmax(weights.masked_fill(future, float("-inf")), dim=-1)


@mistake(replaces="share_out", dimension="masking")
def softmax_over_zeros(weights: Tensor, sums: Tensor) -> Tensor:
    """You apply a softmax after setting the future to zero.

    To a softmax, zero is an ordinary score: its exponential is one, so the future gets weight again. Divide each row
    instead.
    """
    return torch.softmax(weights, dim=-1)


@mistake(replaces="share_out", dimension="numerics")
def not_renormalised(weights: Tensor, sums: Tensor) -> Tensor:
    """Your rows no longer add up to one.

    The future had a share of each row, and the remaining weights add up to less than one. A second step must correct
    this. If you have one, check that you use its result.
    """
    return weights


@mistake(replaces="renormalise_causal", dimension="numerics")
def renormalised_too_early(weights: Tensor) -> Tensor:
    """You divide by the row sums before you remove the future.

    At that point every row adds up to one, and dividing by one changes nothing. First remove the future, then compute
    the sums.
    """
    return (weights / weights.sum(dim=-1, keepdim=True)).tril()


@mistake(replaces="share_out", dimension="numerics")
def multiplied_by_the_sum(weights: Tensor, sums: Tensor) -> Tensor:
    """You multiply each row by its sum instead of dividing.

    The remaining weights add up to less than one, and multiplying by a number below one makes them even smaller.
    """
    return weights * sums


@mistake(replaces="totals", dimension="numerics")
def sums_of_columns(weights: Tensor) -> Tensor:
    """You divide by the sums of the columns.

    A column holds what a key gets from all queries. But each query distributes a total weight of one. Over which of the
    last two axes must you sum?
    """
    return weights.sum(dim=-2, keepdim=True)


@mistake(replaces="totals", dimension="numerics")
def sums_over_axis_one(weights: Tensor) -> Tensor:
    """You sum over axis 1, which is the key axis only without a batch.

    For a single matrix your rows are right. With leading axes, axis 1 is a different one. Count from the end.
    """
    return weights.sum(dim=1, keepdim=True)


@mistake(replaces="totals", dimension="numerics")
def sums_over_axis_two(weights: Tensor) -> Tensor:
    """You sum over axis 2, which is the key axis only with one leading axis.

    Without a batch there is no axis 2; with batch and heads it is the query axis. Count from the end.
    """
    return weights.sum(dim=2, keepdim=True)


@mistake(replaces="totals", dimension="numerics")
def one_sum_for_everything(weights: Tensor) -> Tensor:
    """You divide by the sum of all weights.

    All your weights together add up to one, but each row must. A sum without `dim` runs over all elements.
    """
    return weights.sum()


@mistake(replaces="totals", dimension="numerics")
def sums_lose_their_axis(weights: Tensor) -> Tensor:
    """Your sums do not line up with their rows.

    A sum removes the axis that it runs over. When you divide, the sums then line up with the columns, or the shapes do
    not fit. An argument of `sum` keeps the axis.
    """
    return weights.sum(dim=-1)


@mistake(replaces="totals", dimension="numerics")
def counts_positions(weights: Tensor) -> Tensor:
    """You divide each row by the number of its visible positions.

    The rows then do not add up to one. Divide by how much weight is left, not by how many weights are left.
    """
    counts = torch.arange(1, weights.shape[-1] + 1, dtype=weights.dtype)
    return counts.unsqueeze(-1).expand(*weights.shape[:-1], 1)


@mistake(replaces="totals", dimension="numerics")
def largest_instead_of_the_sum(weights: Tensor) -> Tensor:
    """You divide each row by its largest weight.

    The largest weight becomes one, so the row adds up to more than one. The sum must become one.
    """
    return weights.amax(dim=-1, keepdim=True)


@mistake(replaces="totals", dimension="numerics")
def length_instead_of_the_sum(weights: Tensor) -> Tensor:
    """You divide each row by its Euclidean norm.

    The squares of your weights add up to one, and the weights to more. `F.normalize` and `norm` use the root of the sum
    of squares unless you set another norm.
    """
    return torch.linalg.vector_norm(weights, dim=-1, keepdim=True)


@mistake(replaces="totals", dimension="numerics")
def epsilon_in_the_denominator(weights: Tensor) -> Tensor:
    """You add a small number to the sums.

    Your rows add up to slightly less than one, and to much less where little of a row is left. No protection is needed:
    every row keeps some weight, at least that of its own position.
    """
    return weights.sum(dim=-1, keepdim=True) + 1e-9


@mistake(replaces="totals", dimension="numerics")
def larger_epsilon_in_the_denominator(weights: Tensor) -> Tensor:
    """You add a number to the sums that is too large to be negligible.

    Rows with little weight left add up to much less than one. No protection is needed: every row keeps some weight, at
    least that of its own position.
    """
    return weights.sum(dim=-1, keepdim=True) + 1e-6


@mistake(replaces="share_out", dimension="numerics")
def the_rest_shared_evenly(weights: Tensor, sums: Tensor) -> Tensor:
    """You distribute the weight of the future evenly over the visible positions.

    Your rows add up to one, but their proportions have changed: a position with twice the weight of another must still
    have twice as much. Adding does not preserve that.
    """
    allowed = torch.ones_like(weights).tril()
    return weights + (1 - sums) * allowed / allowed.sum(dim=-1, keepdim=True)


@mistake(replaces="share_out", dimension="numerics")
def the_rest_to_itself(weights: Tensor, sums: Tensor) -> Tensor:
    """You add the weight of the future to the position itself.

    Your rows add up to one, but only the diagonal has grown. All visible weights of a row must grow by the same factor.
    """
    return weights + (1 - sums) * torch.eye(weights.shape[-1], dtype=weights.dtype)


@mistake(replaces="renormalise_causal", dimension="gradients")
def one_minus_the_future(weights: Tensor) -> Tensor:
    """Your gradient depends on the future weights.

    You divide by one minus the sum of the future weights. That number is right only because the row added up to one,
    and autograd does not know this: a gradient flows to the masked weights. Divide by the sum of the remaining weights.
    """
    return weights.tril() / (1 - weights.triu(diagonal=1).sum(dim=-1, keepdim=True))


@mistake(replaces="totals", dimension="gradients")
def sums_cut_off(weights: Tensor) -> Tensor:
    """Your sums are detached from the weights.

    No output shows it, but its gradient treats the sum of a row as a constant. Raising one weight lowers the shares of
    the others, and that effect goes through the sum, so the sum must stay in the graph.
    """
    return weights.sum(dim=-1, keepdim=True).detach()


@mistake(replaces="hide", dimension="gradients")
def weights_cut_off(weights: Tensor, allowed: Tensor) -> Tensor:
    """No gradient flows back to the weights.

    No output shows it, but nothing before it can learn. Look for `detach()`, `.data`, `no_grad`, `numpy()` or
    `torch.tensor(...)` around a computed tensor.
    """
    return weights.detach().masked_fill(~allowed, 0.0)


@mistake(replaces="share_out", dimension="shapes")
def returns_the_sums_too(weights: Tensor, sums: Tensor) -> tuple[Tensor, Tensor]:
    """You return two values, but only the causal weights are expected.

    Return one tensor.
    """
    return weights / sums, sums


@mistake(replaces="share_out", dimension="shapes")
def squeezed(weights: Tensor, sums: Tensor) -> Tensor:
    """You remove axes of size one.

    A batch of one sequence, or a sequence of one position, must keep its axis. `squeeze` without an argument removes
    all axes of size one.
    """
    return (weights / sums).squeeze()


@mistake(replaces="share_out", dimension="numerics")
def first_row_left_out(weights: Tensor, sums: Tensor) -> Tensor:
    """You leave the first row unchanged.

    The first row changes most: only its first weight is visible, and it must become one.
    """
    return torch.cat([weights[..., :1, :], (weights / sums)[..., 1:, :]], dim=-2)


@mistake(replaces="share_out", dimension="numerics")
def rounded(weights: Tensor, sums: Tensor) -> Tensor:
    """You round your weights.

    They agree with the expected ones to four decimals only, and rounding blocks the gradient. Round only what you
    print.
    """
    return (weights / sums).round(decimals=4)


@mistake(replaces="share_out", dimension="numerics")
def sums_bounded_from_below(weights: Tensor, sums: Tensor) -> Tensor:
    """You clamp the sums from below.

    A row may keep very little weight, so that your bound is larger than its sum. Every row keeps some weight, so no
    protection is needed.
    """
    return weights / sums.clamp(min=1e-4)


@mistake(replaces="hide", dimension="masking")
def divided_by_the_mask(weights: Tensor, allowed: Tensor) -> Tensor:
    """You divide by the mask.

    Where it is 0 you get infinity, and infinity times zero is NaN. Multiply by the mask, or use `where` or
    `masked_fill`.
    """
    return weights / allowed * allowed


@mistake(replaces="hide", dimension="numerics")
def evenly_over_the_past(weights: Tensor, allowed: Tensor) -> Tensor:
    """You give every visible position of a row the same weight.

    The rows add up to one, but the input weights have no effect. Use the input weights, divided by the remaining sum of
    their row.
    """
    return allowed.to(weights.dtype).expand_as(weights)
