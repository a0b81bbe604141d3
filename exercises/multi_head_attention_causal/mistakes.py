"""What students get wrong in causal multi-head attention."""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from grader.exercise.mistakes import mistake

Projections = tuple[Tensor, Tensor, Tensor]


@mistake(replaces="width_of_head", dimension="shapes")
def accepts_unequal_heads(d_out: int, num_heads: int) -> int:
    """You accept a d_out that the heads cannot share.

    With d_out = 10 and three heads, one feature belongs to no head. Say so in the constructor, with an exception.
    """
    return d_out // num_heads


@mistake(replaces="split", dimension="numerics")
def splits_without_transpose(x: Tensor, num_heads: int) -> Tensor:
    """Your split into heads mixes tokens and features.

    You view (B, T, d_out) as (B, h, T, d_head) at once. The shape fits, but a head then holds pieces of some tokens
    instead of a piece of every token. Cut the last axis first; moving an axis is another step.
    """
    batch, time, width = x.shape
    return x.reshape(batch, num_heads, time, width // num_heads)


@mistake(replaces="merge", dimension="numerics")
def merges_without_transpose(heads: Tensor) -> Tensor:
    """You merge the heads without moving the head axis back.

    You view (B, h, T, d_head) as (B, T, d_out) at once. The shape fits, but a row then holds several tokens of one
    head instead of one token of all heads. Merging undoes splitting: the same steps, backwards.
    """
    batch, count, time, width = heads.shape
    return heads.reshape(batch, time, count * width)


@mistake(replaces="split", dimension="numerics")
def deals_features_out(x: Tensor, num_heads: int) -> Tensor:
    """Your heads take turns: every h-th feature goes to the same head.

    A head owns *consecutive* features of a projection. When you cut the last axis in two, the number of heads comes
    first and the width of a head second.
    """
    batch, time, width = x.shape
    return x.view(batch, time, width // num_heads, num_heads).permute(0, 3, 1, 2)


@mistake(replaces="split", dimension="masking")
def mixes_batch_and_heads(x: Tensor, num_heads: int) -> Tensor:
    """Your sequences and your heads are mixed up.

    With heads in front of the batch, a view as (B, h, …) puts heads of different sequences together. Check the order of
    your axes after the permutation.
    """
    batch, time, width = x.shape
    heads = x.view(batch, time, num_heads, -1).permute(2, 0, 1, 3)
    return heads.reshape(batch, num_heads, time, width // num_heads)


@mistake(replaces="scale", dimension="numerics")
def no_scaling(scores: Tensor, d_k: int) -> Tensor:
    """You do not divide the scores by the root of a head's width.

    Look at what lies between the product of queries and keys and the softmax.
    """
    return scores


@mistake(replaces="MultiHeadAttention.weigh", dimension="numerics")
def scaled_by_d_out(self: Any, queries: Tensor, keys: Tensor) -> Tensor:
    """You divide the scores by √d_out.

    That was right for one head. Here a score is a dot product of two vectors as wide as *one* head.
    """
    return _causal(queries @ keys.transpose(-2, -1) / math.sqrt(self.W_query.out_features))


@mistake(replaces="scale", dimension="numerics")
def scaled_by_the_number_of_heads(scores: Tensor, d_k: int) -> Tensor:
    """You divide the scores by the root of the number of heads.

    Look at which axis you take the size from: it is the width of a head that counts, not how many there are.
    """
    return scores / math.sqrt(scores.shape[1])


@mistake(replaces="normalise", dimension="numerics")
def softmax_over_queries(scores: Tensor) -> Tensor:
    """Your softmax runs over the queries.

    The columns of your weights add up to one, and the rows do not. In (B, h, T, T), which axis counts the keys?
    """
    return torch.softmax(scores, dim=-2)


@mistake(replaces="normalise", dimension="numerics")
def softmax_over_heads(scores: Tensor) -> Tensor:
    """Your softmax runs over the heads.

    Axis 1 counts heads since you split them; they do not compete. In (B, h, T, T), which axis counts the keys?
    """
    return torch.softmax(scores, dim=1)


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

    Every position sees one position of its future: in row i, column i + 1 is the first to be hidden.
    """
    return scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(diagonal=2), float("-inf"))


@mistake(replaces="hide_future", dimension="masking")
def hides_itself(scores: Tensor) -> Tensor:
    """Your mask hides the diagonal as well.

    No position sees itself, and position 0 sees nothing at all: a softmax over nothing is NaN.
    """
    return scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(diagonal=0), float("-inf"))


@mistake(replaces="hide_future", dimension="masking")
def hides_the_past(scores: Tensor) -> Tensor:
    """You hide the past and show the future.

    Your triangle is the other one. Decide whether True in your mask means "hide" or "show", and check every line.
    """
    return scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).tril(diagonal=-1), float("-inf"))


@mistake(replaces="hide_future", dimension="masking")
def fills_with_zero(scores: Tensor) -> Tensor:
    """You set the hidden scores to zero.

    A score of zero is an ordinary score: its exponential is one. Multiplying by a mask of ones and zeros does the same.
    """
    return scores.tril()


@mistake(replaces="hide_future", dimension="masking")
def fills_with_minus_ten(scores: Tensor) -> Tensor:
    """Your fill value is not low enough: you set the hidden scores to -10.

    Its exponential is not zero, so a little of the future leaks in.
    """
    return scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(diagonal=1), -10.0)


@mistake(replaces="hide_future", dimension="masking")
def fills_with_minus_ten_thousand(scores: Tensor) -> Tensor:
    """Your fill value, -10000, is within the reach of ordinary scores.

    Once a row's own scores lie lower than that, the hidden positions win. Which number is below every score?
    """
    return scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(diagonal=1), -1e4)


@mistake(replaces="MultiHeadAttention.weigh", dimension="masking")
def masks_after_the_softmax(self: Any, queries: Tensor, keys: Tensor) -> Tensor:
    """You set weights to zero after the softmax, and leave it at that.

    The future has taken its share of each row by then, so what is left adds up to less than one.
    """
    return torch.softmax(queries @ keys.transpose(-2, -1) / math.sqrt(keys.shape[-1]), dim=-1).tril()


@mistake(replaces="hide_future", dimension="masking")
def masks_the_first_head_only(scores: Tensor) -> Tensor:
    """You hide the future from the first head only.

    The other heads see everything. The mask has to broadcast over the head axis; look at how you index the scores.
    """
    hidden = torch.ones_like(scores, dtype=torch.bool).triu(diagonal=1)
    hidden[:, 1:] = False
    return scores.masked_fill(hidden, float("-inf"))


@mistake(replaces="MultiHeadAttention.leave", dimension="numerics")
def no_output_projection(self: Any, context: Tensor) -> Tensor:
    """You return the merged heads as they are.

    The output projection is missing: your constructor may have it, but nothing goes through it.
    """
    return context


@mistake(replaces="MultiHeadAttention.leave", dimension="numerics")
def output_bias_ignored(self: Any, context: Tensor) -> Tensor:
    """The bias of your output projection has no effect.

    `qkv_bias` is about queries, keys and values only. The output projection always has its bias.
    """
    return F.linear(context, self.W_out.weight)


@mistake(replaces="MultiHeadAttention.project", dimension="numerics")
def biases_ignored(self: Any, x: Tensor) -> Projections:
    """The biases of your queries, keys and values have no effect.

    If you multiply with `layer.weight` yourself, the bias stays out; calling the layer does both.
    """
    return F.linear(x, self.W_query.weight), F.linear(x, self.W_key.weight), F.linear(x, self.W_value.weight)


@mistake(replaces="MultiHeadAttention.project", dimension="numerics")
def one_projection_for_all(self: Any, x: Tensor) -> Projections:
    """You use one projection for queries, keys and values.

    All three of yours come from W_query. Look for a line that was copied and not changed.
    """
    same = self.W_query(x)
    return same, same, same


@mistake(replaces="MultiHeadAttention.project", dimension="numerics")
def keys_and_values_swapped(self: Any, x: Tensor) -> Projections:
    """W_key and W_value have changed places.

    Follow each of the two to the place where it is used; if you unpack or chunk several at once, check the order.
    """
    return self.W_query(x), self.W_value(x), self.W_key(x)


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


@mistake(replaces="drop", dimension="numerics")
def drops_in_eval(weights: Tensor, dropout: nn.Dropout) -> Tensor:
    """Your dropout is still on in evaluation mode.

    The functional form drops always unless you hand it `training=self.training`; the module form looks after that.
    """
    return torch.dropout(weights, dropout.p, True)


@mistake(replaces="drop", dimension="numerics")
def never_drops(weights: Tensor, dropout: nn.Dropout) -> Tensor:
    """You never drop anything, not even in training mode.

    If you made a dropout layer, it may never be called, or its result may be thrown away.
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


@mistake(replaces="MultiHeadAttention.gather", dimension="numerics")
def drops_the_output(self: Any, weights: Tensor, values: Tensor) -> Tensor:
    """Your dropout falls on the output, not on the weights.

    What is to be dropped is whole connections, "position i looks at position j", before the values are mixed.
    """
    return torch.dropout(weights @ values, self.dropout.p, self.training)


@mistake(replaces="mix", dimension="gradients")
def weights_cut_off(weights: Tensor, values: Tensor) -> Tensor:
    """No gradient flows back through your weights.

    W_query and W_key can never learn. Look for `detach()`, `.data` or `no_grad` between scores and values.
    """
    return weights.detach() @ values


@mistake(replaces="MultiHeadAttention.project", dimension="gradients")
def keys_cut_off(self: Any, x: Tensor) -> Projections:
    """No gradient flows back through your keys.

    The output is right, but W_key never learns. Look for `detach()`, `.data` or `no_grad` where the keys are made.
    """
    return self.W_query(x), self.W_key(x).detach(), self.W_value(x)


def _causal(scores: Tensor) -> Tensor:
    hidden = torch.ones_like(scores, dtype=torch.bool).triu(diagonal=1)
    return torch.softmax(scores.masked_fill(hidden, float("-inf")), dim=-1)
