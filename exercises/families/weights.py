"""Mistakes in the softmax, and in the use of the attention weights."""

from __future__ import annotations

import torch
from torch import Tensor

from grader.exercise.mistakes import mistake


@mistake(replaces="normalise", dimension="numerics", common=True)
def softmax_over_queries(scores: Tensor) -> Tensor:
    """Your softmax runs over the queries.

    The columns of your weights add up to one, and the rows do not. Scores have a row for each query and a column for
    each key: which axis counts the keys?
    """
    return torch.softmax(scores, dim=-2)


@mistake(replaces="normalise", dimension="numerics", common=True)
def softmax_over_the_first_axis(scores: Tensor) -> Tensor:
    """Your softmax always runs over the first axis.

    With a batch axis, it runs over the sequences, which are independent. The keys are always the last axis: use
    `dim=-1`.
    """
    return torch.softmax(scores, dim=0)


@mistake(replaces="normalise", dimension="numerics", common=True)
def softmax_over_heads(scores: Tensor) -> Tensor:
    """Your softmax runs over the heads.

    After the split, axis 1 counts heads, which are independent. Which of the four axes counts the keys?
    """
    return torch.softmax(scores, dim=1)


@mistake(replaces="normalise", dimension="numerics")
def softmax_over_all_pairs(scores: Tensor) -> Tensor:
    """Your weights add up to one over the whole matrix.

    Each row holds the weights of one query and must add up to one. Check which axes your softmax, or your sum, runs
    over.
    """
    return torch.softmax(scores.flatten(-2), dim=-1).view_as(scores)


@mistake(replaces="normalise", dimension="numerics", common=True)
def no_softmax(scores: Tensor) -> Tensor:
    """You use the scores as weights.

    The softmax is missing, so your weights can be negative, and the rows do not add up to one.
    """
    return scores


@mistake(replaces="normalise", dimension="numerics", common=True)
def sigmoid_for_softmax(scores: Tensor) -> Tensor:
    """You apply a sigmoid to each score instead of a softmax.

    Each of your weights is between 0 and 1, but a row does not add up to one: a sigmoid does not depend on the other
    keys.
    """
    return torch.sigmoid(scores)


@mistake(replaces="normalise", dimension="numerics", common=True)
def log_softmax_for_softmax(scores: Tensor) -> Tensor:
    """Your weights are logarithms.

    You use a log-softmax, whose entries are all negative or zero. Weights must be between 0 and 1.
    """
    return torch.log_softmax(scores, dim=-1)


@mistake(replaces="normalise", dimension="numerics")
def softmax_of_the_softmax(scores: Tensor) -> Tensor:
    """You apply the softmax twice.

    The second softmax gets weights between 0 and 1 as scores, so its weights are nearly equal. Look for a softmax
    before and after a function call.
    """
    return torch.softmax(torch.softmax(scores, dim=-1), dim=-1)


@mistake(replaces="normalise", dimension="numerics")
def scores_over_their_sum(scores: Tensor) -> Tensor:
    """You divide the scores themselves by their sum.

    Your rows add up to one, but some weights are negative, and a sum near zero makes them huge. Take the exponential of
    every score first.
    """
    return scores / scores.sum(dim=-1, keepdim=True)


@mistake(replaces="normalise", dimension="numerics")
def hard_maximum(scores: Tensor) -> Tensor:
    """You give all weight to the best key.

    A softmax also gives weight to the other keys, and without that no gradient reaches the scores. Look for an
    `argmax`, a `one_hot` or a comparison with the largest score.
    """
    return (scores == scores.amax(dim=-1, keepdim=True)).to(scores.dtype)


@mistake(replaces="normalise", dimension="numerics")
def powers_of_two(scores: Tensor) -> Tensor:
    """You use powers of 2 instead of e.

    Your weights have the right order and add up to one, but they are too uniform. Check the function that you apply to
    the scores.
    """
    return torch.softmax(scores * 0.6931471805599453, dim=-1)


@mistake(replaces="normalise", dimension="numerics", common=True)
def overflowing_softmax(scores: Tensor) -> Tensor:
    """Your softmax fails for large scores.

    The exponential of a large score is infinite, that of a very negative one is zero, and both give NaN. Subtracting
    the same number from all scores of a row does not change the softmax: which number makes the largest exponential 1?
    """
    powers = torch.exp(scores)
    return powers / powers.sum(dim=-1, keepdim=True)


@mistake(replaces="normalise", dimension="numerics")
def not_a_number_made_zero(scores: Tensor) -> Tensor:
    """You replace NaN with zero.

    If exponentials overflow, or are all zero, `nan_to_num` gives a row of zeros: finite but wrong. Subtract each row's
    largest score first; then nothing overflows.
    """
    powers = torch.exp(scores)
    return torch.nan_to_num(powers / powers.sum(dim=-1, keepdim=True))


@mistake(replaces="normalise", dimension="numerics", common=True)
def scores_clamped(scores: Tensor) -> Tensor:
    """You clamp large scores before the softmax.

    All scores beyond the bound become equal, so different keys get the same weight. Subtract the largest score of each
    row instead; no bound is needed.
    """
    return torch.softmax(scores.clamp(-50.0, 50.0), dim=-1)


@mistake(replaces="normalise", dimension="numerics", common=True)
def shifted_by_the_largest_of_all(scores: Tensor) -> Tensor:
    """You subtract the largest score of the whole tensor, not of each row.

    If all scores of a row are far below the largest score of another row, all exponentials of that row are zero, and
    0/0 is NaN. Subtract each row's own largest score: check the arguments of your max.
    """
    powers = torch.exp(scores - scores.max())
    return powers / powers.sum(dim=-1, keepdim=True)


@mistake(replaces="normalise", dimension="numerics", common=True)
def epsilon_in_the_denominator(scores: Tensor) -> Tensor:
    """You add a small number to the denominator of the softmax.

    Your weights add up to slightly less than one. It is not needed: after subtracting each row's largest score, the sum
    of the exponentials is at least 1.
    """
    powers = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
    return powers / (powers.sum(dim=-1, keepdim=True) + 1e-6)


@mistake(replaces="normalise", dimension="numerics", common=True)
def hides_the_future(scores: Tensor) -> Tensor:
    """You mask later positions, which this exercise does not ask for.

    Here every query attends to all keys. Remove the causal mask.
    """
    future = torch.ones_like(scores, dtype=torch.bool).triu(diagonal=1)
    return torch.softmax(scores.masked_fill(future, float("-inf")), dim=-1)


@mistake(replaces="mix", dimension="numerics", common=True)
def weights_transposed(weights: Tensor, values: Tensor) -> Tensor:
    """You multiply the values by the transposed weights.

    Output i must use row i of the weights. Yours uses column i, the weights that the other queries give to position i.
    """
    return weights.transpose(-2, -1) @ values


@mistake(replaces="mix", dimension="numerics")
def mean_of_the_values(weights: Tensor, values: Tensor) -> Tensor:
    """Your output is the unweighted mean of the values.

    Every query gets the same output. Either your weights have no effect on the output, or they are all equal.
    """
    return torch.full_like(weights, 1 / weights.shape[-1]) @ values


@mistake(replaces="mix", dimension="numerics")
def adds_the_values(weights: Tensor, values: Tensor) -> Tensor:
    """You add the values to the output, as a residual.

    The output is only the weighted sum. A Transformer block has a residual connection, outside attention.
    """
    return weights @ values + values


@mistake(replaces="mix", dimension="numerics", common=True)
def every_head_the_first(weights: Tensor, values: Tensor) -> Tensor:
    """All your heads use the attention weights of the first head.

    Each head has its own queries and keys, so it has its own weights. Look for an index 0, or a loop that never uses
    its index.
    """
    return weights[:, :1] @ values


@mistake(replaces="mix", dimension="numerics", common=True)
def weights_averaged_over_heads(weights: Tensor, values: Tensor) -> Tensor:
    """You average the attention weights over the heads before you use them.

    All heads then attend in the same way. Use each head's own weights.
    """
    return weights.mean(dim=1, keepdim=True) @ values


@mistake(replaces="mix", dimension="numerics", common=True)
def first_sequence_for_all(weights: Tensor, values: Tensor) -> Tensor:
    """All your sequences use the attention weights of the first one.

    Each sequence of the batch has its own queries and keys, so it has its own weights. Look for an index 0 on the batch
    axis.
    """
    return weights[:1] @ values


@mistake(replaces="mix", dimension="shapes", common=True)
def adds_a_batch_axis(weights: Tensor, values: Tensor) -> Tensor:
    """You add a batch axis.

    The input has no batch axis, and neither must the output. Look for an `unsqueeze`, a `view` or a `[None]` that adds
    an axis at the front.
    """
    return (weights @ values).unsqueeze(0)


@mistake(replaces="mix", dimension="shapes")
def averages_over_time(weights: Tensor, values: Tensor) -> Tensor:
    """You return one vector for the whole sequence.

    Every query has its own output: do not average over the positions, and do not pick one of them.
    """
    return (weights @ values).mean(dim=-2)


@mistake(replaces="mix", dimension="shapes", common=True)
def time_before_batch(weights: Tensor, values: Tensor) -> Tensor:
    """You return time before batch.

    The batch axis comes first, in the input and in the output. Look for a transpose of the first two axes, or for a
    layer with `batch_first=False`.
    """
    return (weights @ values).transpose(0, 1)
