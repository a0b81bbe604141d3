"""What students get wrong in causal attention."""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from grader.exercise.mistakes import mistake

Projections = tuple[Tensor, Tensor, Tensor]


@mistake(replaces="scale", dimension="numerics")
def no_scaling(scores: Tensor, d_k: int) -> Tensor:
    """You do not divide the scores by √d_k.

    The wider the keys, the larger the plain dot products, and the softmax then picks one position almost alone. Look at
    what lies between the product of queries and keys and the softmax.
    """
    return scores


@mistake(replaces="scale", dimension="numerics")
def scaled_by_d_k(scores: Tensor, d_k: int) -> Tensor:
    """You divide the scores by d_k, not by its square root.

    Your weights come out too flat. The scores' standard deviation grows with √d_k, so that is what to divide by.
    If the root is there, look whether you scale twice.
    """
    return scores / d_k


@mistake(replaces="scale", dimension="numerics")
def scaled_by_the_length(scores: Tensor, d_k: int) -> Tensor:
    """You divide the scores by the root of the number of tokens.

    Look at the size that you put under the root: it is the sequence length. What counts is the width of a key.
    """
    return scores / math.sqrt(scores.shape[-1])


@mistake(replaces="normalise", dimension="numerics")
def softmax_over_queries(scores: Tensor) -> Tensor:
    """Your softmax runs over the queries.

    The columns of your weights add up to one, and the rows do not. Each query shares *its* attention out over the
    keys. In a (B, T, T) tensor of scores, which axis counts the keys?
    """
    return torch.softmax(scores, dim=1)


@mistake(replaces="normalise", dimension="numerics")
def softmax_over_the_batch(scores: Tensor) -> Tensor:
    """Your softmax runs over the batch.

    Axis 0 counts the sequences of a batch, which have nothing to do with each other. Counting axes from the end is
    safer than counting them from the front.
    """
    return torch.softmax(scores, dim=0)


@mistake(replaces="normalise", dimension="numerics")
def overflowing_softmax(scores: Tensor) -> Tensor:
    """Your softmax breaks down when the scores are large.

    The exponential of a large score is infinite, that of a very negative one zero, and both end as NaN. A softmax does
    not change when the same number is taken off all scores of a row: which number keeps the largest exponential at one?
    """
    powers = torch.exp(scores)
    return powers / powers.sum(dim=-1, keepdim=True)


@mistake(replaces="hide_future", dimension="masking")
def no_mask(scores: Tensor) -> Tensor:
    """Nothing is hidden: every position sees the whole future.

    If there is a mask in your code, its result is lost: `masked_fill` returns a new tensor, and leaves the old one.
    """
    return scores


@mistake(replaces="hide_future", dimension="masking")
def sees_one_ahead(scores: Tensor) -> Tensor:
    """Your mask starts one position too late.

    Every position sees exactly one position of its future. Check the diagonal from which your triangle starts: in
    row i, column i + 1 is the first to be hidden.
    """
    return scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(diagonal=2), float("-inf"))


@mistake(replaces="hide_future", dimension="masking")
def hides_itself(scores: Tensor) -> Tensor:
    """Your mask hides the diagonal as well.

    No position sees itself, and position 0 sees nothing at all: a softmax over nothing is NaN. Check the diagonal from
    which your triangle starts: the first hidden cell of row i is the one in column i + 1.
    """
    return scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(diagonal=0), float("-inf"))


@mistake(replaces="hide_future", dimension="masking")
def hides_the_past(scores: Tensor) -> Tensor:
    """You hide the past and show the future.

    Your triangle is the other one: `tril` keeps what lies below the diagonal, `triu` what lies above it. Decide
    whether True in your mask means "hide" or "show", and check every line that uses it.
    """
    return scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).tril(diagonal=-1), float("-inf"))


@mistake(replaces="hide_future", dimension="masking")
def fills_with_zero(scores: Tensor) -> Tensor:
    """You set the hidden scores to zero.

    A score of zero is an ordinary score: its exponential is one, so the future still gets weight. That is also what
    happens if you multiply the scores by a mask of zeros and ones before the softmax.
    """
    return scores.tril()


@mistake(replaces="hide_future", dimension="masking")
def fills_with_minus_ten(scores: Tensor) -> Tensor:
    """Your fill value is not low enough: you set the hidden scores to -10.

    Its exponential is small but not zero, so a little of the future leaks in. After the softmax, a hidden weight has to
    be exactly zero.
    """
    return scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(diagonal=1), -10.0)


@mistake(replaces="hide_future", dimension="masking")
def fills_with_minus_ten_thousand(scores: Tensor) -> Tensor:
    """Your fill value, -10000, is within the reach of ordinary scores.

    Once a row's own scores lie lower than that, the hidden positions win. Which number is below every score?
    """
    return scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(diagonal=1), -1e4)


@mistake(replaces="hide_future", dimension="masking")
def adds_the_mask_as_ones(scores: Tensor) -> Tensor:
    """You add a mask of zeros and ones to the scores.

    That lifts the visible scores by one and leaves the hidden ones as they are, so the future is seen all the same.
    An added mask has to be 0 where a position may look, and so low where it may not that the exponential is zero.
    """
    return scores + torch.ones_like(scores).tril()


@mistake(replaces="CausalAttention.weigh", dimension="masking")
def masks_after_the_softmax(self: Any, queries: Tensor, keys: Tensor) -> Tensor:
    """You set weights to zero after the softmax, and leave it at that.

    The future has taken its share of each row by then, so what is left adds up to less than one. Either hide scores
    before the softmax, or divide each row by its new sum.
    """
    weights = torch.softmax(queries @ keys.transpose(-2, -1) / math.sqrt(keys.shape[-1]), dim=-1)
    return weights.tril()


@mistake(replaces="scores_of", dimension="numerics")
def queries_meet_queries(queries: Tensor, keys: Tensor) -> Tensor:
    """You score queries against queries.

    Your keys have no say in the scores, so W_key gets no gradient either. Look at both sides of the product.
    """
    return queries @ queries.transpose(-2, -1)


@mistake(replaces="scores_of", dimension="numerics")
def keys_ask_queries(queries: Tensor, keys: Tensor) -> Tensor:
    """Your table of scores lies on its side.

    Row i has to be what *query* i thinks of every key. Look at the order of the factors, and at which is transposed.
    """
    return keys @ queries.transpose(-2, -1)


@mistake(replaces="mix", dimension="masking")
def weights_transposed(weights: Tensor, values: Tensor) -> Tensor:
    """You mix the values with the transposed weights.

    Output i has to use row i of the weights. Yours uses column i, and turns the mask round with it: you gather from
    the future only.
    """
    return weights.transpose(-2, -1) @ values


@mistake(replaces="CausalAttention.project", dimension="numerics")
def keys_and_values_swapped(self: Any, x: Tensor) -> Projections:
    """W_key and W_value have changed places.

    You compare the queries with what W_value gives, and mix what W_key gives. Follow each of the two from its layer
    to the place where it is used; if you unpack or chunk several at once, check the order.
    """
    return self.W_query(x), self.W_value(x), self.W_key(x)


@mistake(replaces="CausalAttention.project", dimension="numerics")
def biases_ignored(self: Any, x: Tensor) -> Projections:
    """Your biases have no effect.

    With `qkv_bias=True` the projections add a bias, and yours do not. If you multiply with `layer.weight` yourself,
    the bias stays out; calling the layer does both.
    """
    return F.linear(x, self.W_query.weight), F.linear(x, self.W_key.weight), F.linear(x, self.W_value.weight)


@mistake(replaces="drop", dimension="numerics")
def drops_in_eval(weights: Tensor, dropout: nn.Dropout) -> Tensor:
    """Your dropout is still on in evaluation mode.

    After `model.eval()` two calls must give the same output. The functional form drops always unless you hand it
    `training=self.training`; the module form looks after that itself.
    """
    return torch.dropout(weights, dropout.p, True)


@mistake(replaces="drop", dimension="numerics")
def never_drops(weights: Tensor, dropout: nn.Dropout) -> Tensor:
    """You never drop anything, not even in training mode.

    The constructor's `dropout` has no effect. If you made a dropout layer, it may never be called, or its result may
    be thrown away.
    """
    return weights


@mistake(replaces="drop", dimension="numerics")
def drops_without_rescaling(weights: Tensor, dropout: nn.Dropout) -> Tensor:
    """You drop weights but do not scale up those that stay.

    With a share p dropped, by what factor do the others have to grow for their sum to stay the same on average?
    """
    return torch.dropout(weights, dropout.p, dropout.training) * (1 - dropout.p if dropout.training else 1)


@mistake(replaces="drop", dimension="numerics")
def keeps_what_it_should_drop(weights: Tensor, dropout: nn.Dropout) -> Tensor:
    """You take the probability of dropping for that of keeping.

    With `dropout=0.3`, three in ten weights disappear and seven stay. In yours it is the other way round.
    """
    return torch.dropout(weights, 1 - dropout.p, dropout.training)


@mistake(replaces="CausalAttention.gather", dimension="numerics")
def drops_the_output(self: Any, weights: Tensor, values: Tensor) -> Tensor:
    """Your dropout falls on the output, not on the weights.

    Single features of the context disappear. What is to be dropped is whole connections, "position i looks at
    position j", before the values are mixed.
    """
    return torch.dropout(weights @ values, self.dropout.p, self.training)


@mistake(replaces="CausalAttention.forward", dimension="numerics")
def drops_scores(self: Any, x: Tensor) -> Tensor:
    """Your dropout falls on the scores, before the softmax.

    A dropped score becomes zero, which is an ordinary score and still gets weight. Drop weights, after the softmax.
    """
    queries, keys, values = self.project(x)
    scores = self.dropout(queries @ keys.transpose(-2, -1) / math.sqrt(keys.shape[-1]))
    hidden = torch.ones_like(scores, dtype=torch.bool).triu(diagonal=1)
    return torch.softmax(scores.masked_fill(hidden, float("-inf")), dim=-1) @ values


@mistake(replaces="mix", dimension="gradients")
def weights_cut_off(weights: Tensor, values: Tensor) -> Tensor:
    """No gradient flows back through your weights.

    The output is right, but W_query and W_key can never learn. Look for `detach()`, `.data`, `.item()`, `no_grad` or
    a `torch.tensor(...)` round something that was computed, between the scores and the last product.
    """
    return weights.detach() @ values


@mistake(replaces="CausalAttention.project", dimension="gradients")
def keys_cut_off(self: Any, x: Tensor) -> Projections:
    """No gradient flows back through your keys.

    The output is right, but W_key never learns. Look for `detach()`, `.data` or `no_grad` where the keys are made.
    """
    return self.W_query(x), self.W_key(x).detach(), self.W_value(x)


@mistake(replaces="mix", dimension="shapes")
def time_before_batch(weights: Tensor, values: Tensor) -> Tensor:
    """You return time before batch.

    x comes as (B, T, d_in), and the output goes as (B, T, d_out). Look for a transpose of the first two axes, or for
    a layer that was told `batch_first=False`.
    """
    return (weights @ values).transpose(0, 1)
