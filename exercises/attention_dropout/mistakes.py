"""What students get wrong in dropout on attention weights."""

from __future__ import annotations

import torch
from torch import Tensor

from grader.exercise.mistakes import mistake


@mistake(replaces="is_on", dimension="numerics")
def drops_in_eval(training: bool) -> bool:
    """Your dropout is still on in evaluation mode.

    With `training=False` the weights must come out as they went in. Look for the place where `training` decides
    whether anything is drawn.
    """
    return True


@mistake(replaces="is_on", dimension="numerics")
def never_drops(training: bool) -> bool:
    """You never drop anything, not even in training mode.

    Your weights always come out as they went in. If you draw what to drop, see whether the result is used: operations
    without an underscore at the end return a new tensor, and leave the old one as it is.
    """
    return False


@mistake(replaces="is_on", dimension="numerics")
def drops_in_the_wrong_mode(training: bool) -> bool:
    """You drop in evaluation mode and not in training.

    The two branches have changed places. Check the condition on `training`, and whether a `not` too many stands in it.
    """
    return not training


@mistake(replaces="attention_dropout", dimension="numerics")
def evaluates_by_default(weights: Tensor, p: float, training: bool = False) -> Tensor:
    """Left to its default, your function does not train.

    Called without `training`, it must drop. Look at the default in your signature.
    """
    return _dropped(weights, p) if training else weights


@mistake(replaces="rescale", dimension="numerics")
def drops_without_rescaling(weights: Tensor, p: float) -> Tensor:
    """You drop weights but do not scale up those that stay.

    With a share p dropped, your weights are smaller on average in training than in evaluation. By what factor do those
    that stay have to grow to make up for it?
    """
    return weights


@mistake(replaces="rescale", dimension="numerics")
def scaled_down(weights: Tensor, p: float) -> Tensor:
    """You make the weights that stay smaller, where they have to grow.

    You multiply by 1 - p. Dropping has lowered the average already; what makes up for that is larger than one.
    """
    return weights * (1 - p)


@mistake(replaces="rescale", dimension="numerics")
def divided_by_p(weights: Tensor, p: float) -> Tensor:
    """You divide by p, the probability of dropping.

    What stays makes up for what is dropped when you divide by the probability of staying. With p = 0, where all
    weights stay and none may change, yours become infinite.
    """
    return weights / p


@mistake(replaces="attention_dropout", dimension="numerics")
def rescaled_in_eval(weights: Tensor, p: float, training: bool = True) -> Tensor:
    """You scale down in evaluation instead of scaling up in training.

    The averages of the two modes agree, but this is the older form. In the inverted one, which is asked for,
    evaluation returns the weights untouched, and all the scaling happens in training.
    """
    return weights * (torch.rand_like(weights) >= p) if training else weights * (1 - p)


@mistake(replaces="rescale", dimension="numerics")
def rows_made_to_add_up(weights: Tensor, p: float) -> Tensor:
    """You divide each row by what is left of it.

    Your rows add up to one after the dropout. That is another scheme: the factor then depends on which weights were
    drawn, and a row that lost everything becomes NaN. The factor here depends on p alone.
    """
    return weights / weights.sum(dim=-1, keepdim=True)


@mistake(replaces="attention_dropout", dimension="numerics")
def scaled_by_what_was_drawn(weights: Tensor, p: float, training: bool = True) -> Tensor:
    """You divide by the share that happened to stay.

    It is close to 1 - p, but it is another number at each call, and zero if nothing stays. The factor depends on p
    alone, not on the draw.
    """
    if not training:
        return weights
    stays = (torch.rand_like(weights) >= p).to(weights.dtype)
    return weights * stays / stays.mean()


@mistake(replaces="draw", dimension="numerics")
def keeps_what_it_should_drop(weights: Tensor, p: float) -> Tensor:
    """You keep with probability p, and drop the others.

    p is the probability of being dropped. With p = 0 nothing may change, and yours drops everything. Look at the
    comparison that makes your mask of zeros and ones, and at which of the two means "stays".
    """
    return torch.rand_like(weights) < p


@mistake(replaces="attention_dropout", dimension="numerics")
def p_taken_for_keeping(weights: Tensor, p: float, training: bool = True) -> Tensor:
    """You take p for the probability of keeping, in the draw and in the factor.

    Your averages are right, but with p = 0.8 you drop two in ten, where eight in ten have to go. Some papers count like
    that; here, as in PyTorch, p is the probability of dropping.
    """
    return weights * (torch.rand_like(weights) < p) / p if training else weights


@mistake(replaces="draw", dimension="numerics")
def drops_the_small_ones(weights: Tensor, p: float) -> Tensor:
    """You drop the weights that are smaller than p.

    Nothing is random in that. p is a probability: compare it with random numbers, one for each weight, and not with
    the weights.
    """
    return weights >= p


@mistake(replaces="draw", dimension="numerics")
def drops_whole_rows(weights: Tensor, p: float) -> Tensor:
    """You drop whole rows: all that a query looks at, or nothing.

    Your random numbers have one entry per query. Each key of each query needs its own; look at the shape that you draw.
    """
    return (torch.rand_like(weights[..., :1]) >= p).expand_as(weights)


@mistake(replaces="draw", dimension="numerics")
def drops_whole_columns(weights: Tensor, p: float) -> Tensor:
    """You drop a key for all queries at once.

    Your random numbers have one entry per key. Each query needs its own; look at the shape that you draw.
    """
    return (torch.rand_like(weights[..., :1, :]) >= p).expand_as(weights)


@mistake(replaces="draw", dimension="numerics")
def one_draw_for_every_head(weights: Tensor, p: float) -> Tensor:
    """You draw once for all sequences and all heads.

    What is dropped in one of them is then dropped in all. Draw as many random numbers as there are weights.
    """
    return (torch.rand(weights.shape[-2:], dtype=weights.dtype) >= p).expand_as(weights)


@mistake(replaces="draw", dimension="numerics")
def all_or_nothing(weights: Tensor, p: float) -> Tensor:
    """You draw a single random number, and drop everything or nothing.

    Each weight takes its own chance. Draw as many random numbers as there are weights.
    """
    return (torch.rand((), dtype=weights.dtype) >= p).expand_as(weights)


@mistake(replaces="draw", dimension="numerics")
def the_same_every_time(weights: Tensor, p: float) -> Tensor:
    """Every call drops the very same weights.

    You seed a generator inside your function, or keep what you have drawn once. What is dropped has to be drawn anew
    at each call; seeds are set outside, by whoever trains.
    """
    numbers = torch.rand(weights.shape, generator=torch.Generator().manual_seed(0), dtype=weights.dtype)
    return numbers >= p


@mistake(replaces="silence", dimension="numerics")
def returns_the_mask(weights: Tensor, stays: Tensor) -> Tensor:
    """You return the mask, and not the weights under it.

    Every number of yours is 0 or 1/(1 - p). The mask says which weights stay; it still has to be multiplied with them.
    """
    return weights - weights.detach() + stays.to(weights.dtype)


@mistake(replaces="rescale", dimension="numerics")
def not_a_number_at_one(weights: Tensor, p: float) -> Tensor:
    """With p = 1 your output is NaN.

    Nothing stays, and zero divided by 1 - p is 0 / 0. The right answer is a tensor of zeros: treat p = 1 by itself.
    """
    return weights / (1 - p)


@mistake(replaces="rescale", dimension="numerics")
def fails_at_one(weights: Tensor, p: float) -> Tensor:
    """With p = 1 your function divides by zero and raises an error.

    Python does not divide by 1 - p when that is 0. The right answer is a tensor of zeros: treat p = 1 by itself.
    """
    return weights * (1 / (1 - p))


@mistake(replaces="attention_dropout", dimension="numerics")
def everything_kept_at_one(weights: Tensor, p: float, training: bool = True) -> Tensor:
    """With p = 1 you return the weights as they are.

    In training mode everything is to be dropped then: the answer is a tensor of zeros. Perhaps one shortcut is meant
    for both ends of the range; they need two.
    """
    return _dropped(weights, p) if training and p < 1 else weights


@mistake(replaces="attention_dropout", dimension="numerics")
def zeros_in_eval_at_one(weights: Tensor, p: float, training: bool = True) -> Tensor:
    """With p = 1 you return zeros in evaluation mode too.

    In evaluation nothing is dropped, whatever p is. Ask for the mode before you look at p.
    """
    if p == 1:
        return weights * 0.0
    return _dropped(weights, p) if training else weights


@mistake(replaces="attention_dropout", dimension="gradients")
def infinite_gradient_at_one(weights: Tensor, p: float, training: bool = True) -> Tensor:
    """With p = 1 your output is right, but its gradient is NaN.

    Somewhere you divide by 1 - p = 0, and put zeros over the result. Going back, zero meets that infinite factor: 0
    times infinity is NaN. What is covered up afterwards is computed all the same, so do not divide then.
    """
    if not training:
        return weights
    return torch.where(torch.rand_like(weights) >= p, weights / (1 - p), 0.0)


@mistake(replaces="silence", dimension="gradients")
def graph_cut(weights: Tensor, stays: Tensor) -> Tensor:
    """No gradient comes back in training mode.

    The output is right, but nothing before it can learn. Look for `detach()`, `.data`, `no_grad`, `numpy()` or a
    `torch.tensor(...)` round something that was computed.
    """
    return weights.detach() * stays


@mistake(replaces="attention_dropout", dimension="gradients")
def dropped_ones_learn(weights: Tensor, p: float, training: bool = True) -> Tensor:
    """Your gradient does not know what was dropped.

    It comes back to all weights alike, as if there were no dropout. A weight that was dropped has no part in the
    output, so its gradient is 0; one that stays has the factor 1/(1 - p) on both ways. If you write into `.data` or
    under `no_grad`, autograd does not see it.
    """
    if not training:
        return weights
    return weights + (_dropped(weights, p) - weights).detach()


@mistake(replaces="attention_dropout", dimension="shapes")
def returns_the_mask_too(weights: Tensor, p: float, training: bool = True) -> tuple[Tensor, Tensor]:
    """You return two things, where the dropped weights alone are asked for.

    Whoever uses the result multiplies it with the values at once. Return one tensor.
    """
    stays = torch.rand_like(weights) >= p if training else torch.ones_like(weights, dtype=torch.bool)
    return weights * stays, stays


@mistake(replaces="silence", dimension="shapes")
def only_those_that_stay(weights: Tensor, stays: Tensor) -> Tensor:
    """You return a list of the weights that stay.

    Indexing with a boolean mask picks entries out and forgets where they stood. A dropped weight is still there, as a
    zero in its place.
    """
    return weights[stays]


def _dropped(weights: Tensor, p: float) -> Tensor:
    """Return what training mode must give."""
    left = weights * (torch.rand_like(weights) >= p)
    return left if p == 1 else left / (1 - p)
