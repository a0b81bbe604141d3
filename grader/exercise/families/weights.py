"""What goes wrong with the softmax, and with the weights that come out of it."""

from __future__ import annotations

import torch
from torch import Tensor

from grader.exercise.mistakes import mistake


@mistake(replaces="normalise", dimension="numerics")
def softmax_over_queries(scores: Tensor) -> Tensor:
    """Your softmax runs over the queries.

    The columns of your weights add up to one, and the rows do not. Scores have a row for each query and a column for
    each key: along which axis does one query find all its keys?
    """
    return torch.softmax(scores, dim=-2)


@mistake(replaces="normalise", dimension="numerics")
def softmax_over_the_first_axis(scores: Tensor) -> Tensor:
    """Your softmax runs over the first axis, whatever that is.

    With a batch in front it lets sequences compete that have nothing to do with each other. Count the axis from the
    end: the keys come last.
    """
    return torch.softmax(scores, dim=0)


@mistake(replaces="normalise", dimension="numerics")
def softmax_over_heads(scores: Tensor) -> Tensor:
    """Your softmax runs over the heads.

    Axis 1 counts heads since you split them; they do not compete. Of the four axes, which one counts the keys?
    """
    return torch.softmax(scores, dim=1)


@mistake(replaces="normalise", dimension="numerics")
def softmax_over_all_pairs(scores: Tensor) -> Tensor:
    """Your weights add up to one over the whole table.

    Every row of the table is one query's attention and has to add up to one by itself. Look at which axes your
    softmax, or your division by the sum, runs over.
    """
    return torch.softmax(scores.flatten(-2), dim=-1).view_as(scores)


@mistake(replaces="normalise", dimension="numerics")
def no_softmax(scores: Tensor) -> Tensor:
    """You mix the values with the scores themselves.

    The softmax is missing: your weights may be negative, and a row of them adds up to anything.
    """
    return scores


@mistake(replaces="normalise", dimension="numerics")
def sigmoid_for_softmax(scores: Tensor) -> Tensor:
    """You turn each score into a weight by itself, with a sigmoid.

    Each of your weights lies between 0 and 1, but a row does not add up to one. A sigmoid knows nothing of the other
    keys; attention makes them compete.
    """
    return torch.sigmoid(scores)


@mistake(replaces="normalise", dimension="numerics")
def log_softmax_for_softmax(scores: Tensor) -> Tensor:
    """Your weights are logarithms.

    You use a log-softmax, whose entries are all negative or zero. A weight is a share between zero and one.
    """
    return torch.log_softmax(scores, dim=-1)


@mistake(replaces="normalise", dimension="numerics")
def softmax_of_the_softmax(scores: Tensor) -> Tensor:
    """You apply the softmax twice.

    The second one takes weights between 0 and 1 for scores and makes them nearly equal. Look for a softmax on each side
    of a call.
    """
    return torch.softmax(torch.softmax(scores, dim=-1), dim=-1)


@mistake(replaces="normalise", dimension="numerics")
def scores_over_their_sum(scores: Tensor) -> Tensor:
    """You divide the scores themselves by their sum.

    Your rows add up to one, but some weights are negative, and a sum near zero blows them up. The exponential makes
    every score positive first.
    """
    return scores / scores.sum(dim=-1, keepdim=True)


@mistake(replaces="normalise", dimension="numerics")
def hard_maximum(scores: Tensor) -> Tensor:
    """You give all weight to the best key.

    A softmax is soft: the other keys keep their shares, and only thereby can anything be learnt. Look for an `argmax`,
    a `one_hot` or a comparison with the largest score.
    """
    return (scores == scores.amax(dim=-1, keepdim=True)).to(scores.dtype)


@mistake(replaces="normalise", dimension="numerics")
def powers_of_two(scores: Tensor) -> Tensor:
    """You raise 2 to the power of the scores, not e.

    Your weights have the right order and the right sum, but they are too even. Look at the function that you apply to
    the scores.
    """
    return torch.softmax(scores * 0.6931471805599453, dim=-1)


@mistake(replaces="normalise", dimension="numerics")
def overflowing_softmax(scores: Tensor) -> Tensor:
    """Your softmax breaks down when the scores are large.

    The exponential of a large score is infinite, that of a very negative one zero, and both end as NaN. A softmax does
    not change when the same number is taken off all scores of a row: which number keeps the largest exponential at one?
    """
    powers = torch.exp(scores)
    return powers / powers.sum(dim=-1, keepdim=True)


@mistake(replaces="normalise", dimension="numerics")
def not_a_number_made_zero(scores: Tensor) -> Tensor:
    """You put zeros in the place of what is not a number.

    Where exponentials overflow, or are all zero, `nan_to_num` gives a row of zeros: finite, and wrong. With each row's
    largest score subtracted first, nothing overflows and nothing needs to be replaced.
    """
    powers = torch.exp(scores)
    return torch.nan_to_num(powers / powers.sum(dim=-1, keepdim=True))


@mistake(replaces="normalise", dimension="numerics")
def scores_clamped(scores: Tensor) -> Tensor:
    """You cut off large scores before the softmax.

    All scores beyond the bound become equal, so keys that differ share their weight evenly. A softmax needs no bound:
    it takes the largest score of a row off first.
    """
    return torch.softmax(scores.clamp(-50.0, 50.0), dim=-1)


@mistake(replaces="normalise", dimension="numerics")
def shifted_by_the_largest_of_all(scores: Tensor) -> Tensor:
    """You subtract the largest score of the whole tensor, not of each row.

    A row whose scores all lie far below the largest of another row is left with exponentials that are all zero, and
    zero divided by zero is NaN. Each row needs its own largest score: look at the arguments of your max.
    """
    powers = torch.exp(scores - scores.max())
    return powers / powers.sum(dim=-1, keepdim=True)


@mistake(replaces="normalise", dimension="numerics")
def epsilon_in_the_denominator(scores: Tensor) -> Tensor:
    """You add a small number to the softmax's denominator.

    Your weights add up to a little less than one. There is nothing to protect against: with each row's largest score
    subtracted, the sum of the exponentials is at least 1.
    """
    powers = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
    return powers / (powers.sum(dim=-1, keepdim=True) + 1e-6)


@mistake(replaces="normalise", dimension="numerics")
def hides_the_future(scores: Tensor) -> Tensor:
    """You hide later positions, which this exercise does not ask for.

    Here every query sees all keys, those further on included. Leave the causal mask out.
    """
    future = torch.ones_like(scores, dtype=torch.bool).triu(diagonal=1)
    return torch.softmax(scores.masked_fill(future, float("-inf")), dim=-1)


@mistake(replaces="mix", dimension="numerics")
def weights_transposed(weights: Tensor, values: Tensor) -> Tensor:
    """You mix the values with the transposed weights.

    Output i has to use row i of the weights. Yours uses column i, which says how much the others attend to position i.
    """
    return weights.transpose(-2, -1) @ values


@mistake(replaces="mix", dimension="numerics")
def mean_of_the_values(weights: Tensor, values: Tensor) -> Tensor:
    """Your output is the plain mean of the values.

    Every query gets the same: the weights are computed, but have no part in the result, or are all equal.
    """
    return torch.full_like(weights, 1 / weights.shape[-1]) @ values


@mistake(replaces="mix", dimension="numerics")
def adds_the_values(weights: Tensor, values: Tensor) -> Tensor:
    """You add the values once more, as a residual.

    What is asked for is the weighted sum alone. A block of a transformer adds its input afterwards; that is not part of
    attention.
    """
    return weights @ values + values


@mistake(replaces="mix", dimension="numerics")
def every_head_the_first(weights: Tensor, values: Tensor) -> Tensor:
    """All your heads use the weights of the first.

    Each head has queries, keys and so weights of its own. Look for an index 0, or a loop that never uses its index.
    """
    return weights[:, :1] @ values


@mistake(replaces="mix", dimension="numerics")
def weights_averaged_over_heads(weights: Tensor, values: Tensor) -> Tensor:
    """You average the weights over the heads before you use them.

    Then all heads look at the same places, and there might as well be one. Average for a picture at most.
    """
    return weights.mean(dim=1, keepdim=True) @ values


@mistake(replaces="mix", dimension="numerics")
def first_sequence_for_all(weights: Tensor, values: Tensor) -> Tensor:
    """All your sequences use the weights of the first.

    Each sequence of the batch has queries and keys, and so weights, of its own. Look for an index 0 that takes the
    batch axis away.
    """
    return weights[:1] @ values


@mistake(replaces="mix", dimension="shapes")
def adds_a_batch_axis(weights: Tensor, values: Tensor) -> Tensor:
    """You return a batch of one.

    What comes in has no batch axis here, and neither has what you return. Look for an `unsqueeze`, a `view` or a
    `[None]` that puts an axis in front.
    """
    return (weights @ values).unsqueeze(0)


@mistake(replaces="mix", dimension="shapes")
def averages_over_time(weights: Tensor, values: Tensor) -> Tensor:
    """You return one vector for the whole sequence.

    Every query gets an output of its own. Yours are averaged over the positions.
    """
    return (weights @ values).mean(dim=-2)


@mistake(replaces="mix", dimension="shapes")
def time_before_batch(weights: Tensor, values: Tensor) -> Tensor:
    """You return time before batch.

    The batch comes first in what you are given, and so it does in what you return. Look for a transpose of the first
    two axes, or for a layer that was told `batch_first=False`.
    """
    return (weights @ values).transpose(0, 1)
