"""What students get wrong in dropout on attention weights."""

from __future__ import annotations

import torch
from torch import Tensor

from grader.exercise.mistakes import mistake


@mistake(replaces="is_on", dimension="numerics")
def drops_in_eval(training: bool) -> bool:
    """Your dropout is still active in evaluation mode.

    With `training=False` you must return the weights unchanged. Check where your code uses `training`.
    """
    return True


@mistake(replaces="is_on", dimension="numerics")
def never_drops(training: bool) -> bool:
    """Nothing is dropped in training mode.

    You always return the weights unchanged. If you draw a random mask, check that you use the result: operations
    without a trailing underscore return a new tensor and do not change the old one.
    """
    return False


@mistake(replaces="is_on", dimension="numerics")
def drops_in_the_wrong_mode(training: bool) -> bool:
    """You drop in evaluation mode and not in training mode.

    The two branches are swapped. Check the condition on `training`, and look for an extra `not`.
    """
    return not training


@mistake(replaces="attention_dropout", dimension="numerics")
def evaluates_by_default(weights: Tensor, p: float, training: bool = False) -> Tensor:
    """Your function does not drop when `training` is left out.

    A call without `training` must drop. Check the default value in your signature.
    """
    return _dropped(weights, p) if training else weights


@mistake(replaces="rescale", dimension="numerics")
def drops_without_rescaling(weights: Tensor, p: float) -> Tensor:
    """You drop weights but do not scale up the rest.

    With a probability p of dropping, your weights are smaller on average in training than in evaluation. By what factor
    must you multiply the kept weights to correct this?
    """
    return weights


@mistake(replaces="rescale", dimension="numerics")
def scaled_down(weights: Tensor, p: float) -> Tensor:
    """You scale the kept weights down instead of up.

    You multiply by 1 - p. Dropping already lowers the average, so the factor must be larger than one.
    """
    return weights * (1 - p)


@mistake(replaces="rescale", dimension="numerics")
def divided_by_p(weights: Tensor, p: float) -> Tensor:
    """You divide by p, the probability of dropping.

    Divide by the probability of keeping a weight instead. With p = 0, all weights must stay unchanged, but yours become
    infinite.
    """
    return weights / p


@mistake(replaces="attention_dropout", dimension="numerics")
def rescaled_in_eval(weights: Tensor, p: float, training: bool = True) -> Tensor:
    """You scale down in evaluation instead of scaling up in training.

    The two modes have the same average, but this is the older variant. The statement asks for inverted dropout:
    evaluation returns the weights unchanged, and all scaling happens in training.
    """
    return weights * (torch.rand_like(weights) >= p) if training else weights * (1 - p)


@mistake(replaces="rescale", dimension="numerics")
def rows_made_to_add_up(weights: Tensor, p: float) -> Tensor:
    """You renormalise each row after the dropout.

    Your rows add up to one again, but the factor then depends on the random draw, and a row in which everything was
    dropped becomes NaN. The factor must depend on p only.
    """
    return weights / weights.sum(dim=-1, keepdim=True)


@mistake(replaces="attention_dropout", dimension="numerics")
def scaled_by_what_was_drawn(weights: Tensor, p: float, training: bool = True) -> Tensor:
    """You divide by the fraction of weights that happened to be kept.

    It is close to 1 - p, but it changes from call to call, and it is zero if nothing was kept. The factor must depend
    on p only.
    """
    if not training:
        return weights
    stays = (torch.rand_like(weights) >= p).to(weights.dtype)
    return weights * stays / stays.mean()


@mistake(replaces="draw", dimension="numerics")
def keeps_what_it_should_drop(weights: Tensor, p: float) -> Tensor:
    """You keep each weight with probability p and drop the others.

    p is the probability of dropping. With p = 0 nothing must change, but you drop everything. Check the comparison that
    makes your mask of zeros and ones, and which of the two means "keep".
    """
    return torch.rand_like(weights) < p


@mistake(replaces="attention_dropout", dimension="numerics")
def p_taken_for_keeping(weights: Tensor, p: float, training: bool = True) -> Tensor:
    """You use p as the probability of keeping, in the draw and in the factor.

    Your averages are right, but with p = 0.8 you drop two in ten weights instead of eight. Some papers define p that
    way; here, as in PyTorch, p is the probability of dropping.
    """
    return weights * (torch.rand_like(weights) < p) / p if training else weights


@mistake(replaces="draw", dimension="numerics")
def drops_the_small_ones(weights: Tensor, p: float) -> Tensor:
    """You drop the weights that are smaller than p.

    That is not random. p is a probability: compare it with random numbers, one for each weight, not with the weights.
    """
    return weights >= p


@mistake(replaces="draw", dimension="numerics")
def drops_whole_rows(weights: Tensor, p: float) -> Tensor:
    """You drop whole rows: all weights of a query or none.

    You draw one random number per query. Draw one for each key of each query. Check the shape of your random tensor.
    """
    return (torch.rand_like(weights[..., :1]) >= p).expand_as(weights)


@mistake(replaces="draw", dimension="numerics")
def drops_whole_columns(weights: Tensor, p: float) -> Tensor:
    """You drop a key for all queries at once.

    You draw one random number per key. Draw one for each key of each query. Check the shape of your random tensor.
    """
    return (torch.rand_like(weights[..., :1, :]) >= p).expand_as(weights)


@mistake(replaces="draw", dimension="numerics")
def one_draw_for_every_head(weights: Tensor, p: float) -> Tensor:
    """You draw one mask for all sequences and all heads.

    The same connections are then dropped in all of them. Draw as many random numbers as there are weights.
    """
    return (torch.rand(weights.shape[-2:], dtype=weights.dtype) >= p).expand_as(weights)


@mistake(replaces="draw", dimension="numerics")
def all_or_nothing(weights: Tensor, p: float) -> Tensor:
    """You draw a single random number, and drop everything or nothing.

    Each weight must be dropped or kept independently. Draw as many random numbers as there are weights.
    """
    return (torch.rand((), dtype=weights.dtype) >= p).expand_as(weights)


@mistake(replaces="draw", dimension="numerics")
def the_same_every_time(weights: Tensor, p: float) -> Tensor:
    """Every call drops the same weights.

    You seed a generator inside your function, or you draw once and reuse the result. Draw new random numbers in each
    call. Seeds belong in the training script, not in this function.
    """
    numbers = torch.rand(weights.shape, generator=torch.Generator().manual_seed(0), dtype=weights.dtype)
    return numbers >= p


@mistake(replaces="silence", dimension="numerics")
def returns_the_mask(weights: Tensor, stays: Tensor) -> Tensor:
    """You return the mask instead of the masked weights.

    All your numbers are 0 or 1/(1 - p). The mask only says which weights to keep; multiply the weights by it.
    """
    return weights - weights.detach() + stays.to(weights.dtype)


@mistake(replaces="rescale", dimension="numerics")
def not_a_number_at_one(weights: Tensor, p: float) -> Tensor:
    """With p = 1 your output is NaN.

    All weights are dropped, and zero divided by 1 - p is 0 / 0. The right output is a tensor of zeros: handle p = 1
    separately.
    """
    return weights / (1 - p)


@mistake(replaces="rescale", dimension="numerics")
def fails_at_one(weights: Tensor, p: float) -> Tensor:
    """With p = 1 your function divides by zero and raises an error.

    In Python, dividing by 1 - p raises an error when the result is 0. The right output is a tensor of zeros: handle p =
    1 separately.
    """
    return weights * (1 / (1 - p))


@mistake(replaces="attention_dropout", dimension="numerics")
def everything_kept_at_one(weights: Tensor, p: float, training: bool = True) -> Tensor:
    """With p = 1 you return the weights unchanged.

    In training mode everything must be dropped: the right output is a tensor of zeros. You may use the same shortcut
    for p = 0 and p = 1; they need different ones.
    """
    return _dropped(weights, p) if training and p < 1 else weights


@mistake(replaces="attention_dropout", dimension="numerics")
def zeros_in_eval_at_one(weights: Tensor, p: float, training: bool = True) -> Tensor:
    """With p = 1 you return zeros in evaluation mode too.

    Evaluation mode drops nothing, for any p. Check `training` before you check p.
    """
    if p == 1:
        return weights * 0.0
    return _dropped(weights, p) if training else weights


@mistake(replaces="attention_dropout", dimension="gradients")
def infinite_gradient_at_one(weights: Tensor, p: float, training: bool = True) -> Tensor:
    """With p = 1 your output is right, but its gradient is NaN.

    You divide by 1 - p = 0 and then replace the result by zeros. The division is still part of the graph: in the
    backward pass, zero is multiplied by its infinite factor, which gives NaN. Do not divide at all when p = 1.
    """
    if not training:
        return weights
    return torch.where(torch.rand_like(weights) >= p, weights / (1 - p), 0.0)


@mistake(replaces="silence", dimension="gradients")
def graph_cut(weights: Tensor, stays: Tensor) -> Tensor:
    """No gradient flows back in training mode.

    No output shows it, but nothing before it can learn. Look for `detach()`, `.data`, `no_grad`, `numpy()` or
    `torch.tensor(...)` around a computed tensor.
    """
    return weights.detach() * stays


@mistake(replaces="attention_dropout", dimension="gradients")
def dropped_ones_learn(weights: Tensor, p: float, training: bool = True) -> Tensor:
    """Your gradient ignores which weights were dropped.

    It is the same for all weights, as if there were no dropout. A dropped weight does not affect the output, so its
    gradient must be 0; a kept weight has the factor 1/(1 - p) in the backward pass too. Autograd does not see changes
    in `.data` or under `no_grad`.
    """
    if not training:
        return weights
    return weights + (_dropped(weights, p) - weights).detach()


@mistake(replaces="attention_dropout", dimension="shapes")
def returns_the_mask_too(weights: Tensor, p: float, training: bool = True) -> tuple[Tensor, Tensor]:
    """You return two values, but only the dropped weights are expected.

    Return one tensor.
    """
    stays = torch.rand_like(weights) >= p if training else torch.ones_like(weights, dtype=torch.bool)
    return weights * stays, stays


@mistake(replaces="silence", dimension="shapes")
def only_those_that_stay(weights: Tensor, stays: Tensor) -> Tensor:
    """You return only the weights that were kept.

    Indexing with a boolean mask selects entries and loses their positions. A dropped weight must stay in its place as a
    zero.
    """
    return weights[stays]


def _dropped(weights: Tensor, p: float) -> Tensor:
    """Return what training mode must give."""
    left = weights * (torch.rand_like(weights) >= p)
    return left if p == 1 else left / (1 - p)
