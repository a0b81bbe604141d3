"""What students get wrong in scaled dot-product attention."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from grader.exercise.mistakes import mistake


@mistake(replaces="scale", dimension="numerics")
def no_scaling(scores: Tensor, d_k: int) -> Tensor:
    """You do not divide the scores by √d_k.

    Your output is what attention gives when the plain dot products go into the softmax. The wider the keys, the
    larger those products, and the softmax then picks one key almost alone. Look between the product and the softmax.
    """
    return scores


@mistake(replaces="scale", dimension="numerics")
def scaled_by_d_k(scores: Tensor, d_k: int) -> Tensor:
    """You divide the scores by d_k, not by its square root.

    Your weights come out too even. A dot product of d_k random numbers has a standard deviation of √d_k, and that is
    what the division takes back. (Dividing by the root twice, queries first and scores again, comes to the same.)
    """
    return scores / d_k


@mistake(replaces="scale", dimension="numerics")
def multiplied_by_the_root(scores: Tensor, d_k: int) -> Tensor:
    """You multiply the scores by √d_k where a division belongs.

    Your weights come out far too sharp: the factor that should tame wide keys makes them louder. If you multiply, it
    must be by the inverse of the root.
    """
    return scores * math.sqrt(d_k)


@mistake(replaces="scale", dimension="numerics")
def scaled_by_the_fourth_root(scores: Tensor, d_k: int) -> Tensor:
    """You scale by the fourth root of d_k.

    Splitting the scaling between queries and keys is fine if both take their part; here only one of them does, so the
    scores are divided by too little. Multiply all your factors together: they must come to √d_k.
    """
    return scores / d_k**0.25


@mistake(replaces="scale", dimension="numerics")
def scaled_by_the_number_of_keys(scores: Tensor, d_k: int) -> Tensor:
    """You divide the scores by the root of the number of keys.

    What grows a dot product is the number of coordinates that it adds up, and that is the last axis of `key`, not the
    one before it. Look at the size that you take the root of.
    """
    return scores / math.sqrt(scores.shape[-1])


@mistake(replaces="scale", dimension="numerics")
def scaled_by_the_number_of_queries(scores: Tensor, d_k: int) -> Tensor:
    """You divide the scores by the root of the number of queries.

    What grows a dot product is the number of coordinates that it adds up, and that is the last axis of `query`, not
    the one before it. Look at the size that you take the root of.
    """
    return scores / math.sqrt(scores.shape[-2])


@mistake(replaces="scaled_dot_product_attention", dimension="numerics")
def scaled_by_the_values_width(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """You divide the scores by the root of the values' width.

    Scores are products of queries and keys; values have no part in them, and may have another width, d_v. The root is
    that of d_k, the last axis of `query` and `key`.
    """
    scores = query @ key.transpose(-2, -1) / math.sqrt(value.shape[-1])
    weights = (scores if mask is None else scores.masked_fill(~mask, float("-inf"))).softmax(dim=-1)
    return weights @ value, weights


@mistake(replaces="scaled_dot_product_attention", dimension="numerics")
def scaled_after_the_softmax(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """You divide by √d_k after the softmax.

    Your weights add up to 1/√d_k, so the output is too small, and the softmax itself sees scores that are too large.
    The division must come before the softmax.
    """
    scores = query @ key.transpose(-2, -1)
    weights = (scores if mask is None else scores.masked_fill(~mask, float("-inf"))).softmax(dim=-1)
    weights = weights / math.sqrt(key.shape[-1])
    return weights @ value, weights


@mistake(replaces="normalise", dimension="numerics")
def softmax_over_queries(scores: Tensor) -> Tensor:
    """Your softmax runs over the queries.

    The weights of each key add up to one; those of each query should. Scores have a row for each query and a column
    for each key: along which axis does one query find all its keys?
    """
    return torch.softmax(scores, dim=-2)


@mistake(replaces="normalise", dimension="numerics")
def softmax_over_the_first_axis(scores: Tensor) -> Tensor:
    """Your softmax runs over the first axis, whatever that is.

    With a batch in front it mixes batch rows that have nothing to do with each other. Count the axis from the end:
    the keys come last.
    """
    return torch.softmax(scores, dim=0)


@mistake(replaces="normalise", dimension="numerics")
def softmax_without_shift(scores: Tensor) -> Tensor:
    """Your exponentials overflow.

    For moderate scores your weights are right; for very large ones the exponential is `inf` and the weights are
    `nan`. Subtract each row's largest score first, or leave the softmax to PyTorch.
    """
    exponentials = torch.exp(scores)
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


@mistake(replaces="normalise", dimension="numerics")
def epsilon_in_the_denominator(scores: Tensor) -> Tensor:
    """You add a small number to the softmax's denominator.

    Your weights add up to a little less than one. There is nothing to protect against: with each row's largest score
    subtracted, the sum of the exponentials is at least 1.
    """
    exponentials = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
    return exponentials / (exponentials.sum(dim=-1, keepdim=True) + 1e-6)


@mistake(replaces="normalise", dimension="numerics")
def sigmoid_for_softmax(scores: Tensor) -> Tensor:
    """You squash each score on its own.

    Each of your weights lies between 0 and 1, but a query's weights do not add up to one. A sigmoid knows nothing of
    the other keys; attention makes them compete.
    """
    return torch.sigmoid(scores)


@mistake(replaces="normalise", dimension="numerics")
def no_softmax(scores: Tensor) -> Tensor:
    """You mix the values with the scores themselves.

    Without the softmax the weights may be negative, do not add up to one, and are -inf where the mask hides a key.
    """
    return scores


@mistake(replaces="scaled_dot_product_attention", dimension="numerics")
def returns_the_scores(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """You return the scores in place of the weights.

    Your output is right. The second thing to return are the weights, after the softmax: what you return there is what
    goes into it.
    """
    scores = query @ key.transpose(-2, -1) / math.sqrt(key.shape[-1])
    scores = scores if mask is None else scores.masked_fill(~mask, float("-inf"))
    return torch.softmax(scores, dim=-1) @ value, scores


@mistake(replaces="scaled_dot_product_attention", dimension="shapes")
def weights_first(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """You return the weights first and the output second.

    Both are there, in the other order. The contract is `(output, weights)`; look at your last line.
    """
    scores = query @ key.transpose(-2, -1) / math.sqrt(key.shape[-1])
    weights = (scores if mask is None else scores.masked_fill(~mask, float("-inf"))).softmax(dim=-1)
    return weights, weights @ value


@mistake(replaces="scaled_dot_product_attention", dimension="shapes")
def mixes_the_keys(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """You gather the keys, not the values.

    Your output has the keys' width, d_k. Keys only decide how much each position matters; what is gathered from it is
    its value. Look at the last product.
    """
    scores = query @ key.transpose(-2, -1) / math.sqrt(key.shape[-1])
    weights = (scores if mask is None else scores.masked_fill(~mask, float("-inf"))).softmax(dim=-1)
    return weights @ key, weights


@mistake(replaces="hide", dimension="masking")
def mask_ignored(scores: Tensor, mask: Tensor | None) -> Tensor:
    """Your mask has no effect.

    With a mask your output is the same as without one. Either it is not used, or the result of the masking is thrown
    away: `masked_fill` returns a new tensor and leaves the old one as it was.
    """
    return scores


@mistake(replaces="hide", dimension="masking")
def mask_inverted(scores: Tensor, mask: Tensor | None) -> Tensor:
    """You hide what may be seen, and see what is hidden.

    True in the mask means that the query may attend. `masked_fill` fills where its mask is True. Compare the two
    sentences.
    """
    return scores if mask is None else scores.masked_fill(mask, float("-inf"))


@mistake(replaces="hide", dimension="masking")
def mask_added(scores: Tensor, mask: Tensor | None) -> Tensor:
    """You add the mask to the scores as zeros and ones.

    That raises the visible scores by 1 and hides nothing. What is added where a key is hidden must be so low that no
    weight is left after the softmax.
    """
    return scores if mask is None else scores + mask


@mistake(replaces="hide", dimension="masking")
def hidden_scores_are_zero(scores: Tensor, mask: Tensor | None) -> Tensor:
    """You set hidden scores to zero.

    A score of 0 is an ordinary score: its exponential is 1, and the key gets weight, often more than the visible
    ones. The same happens if you multiply the scores by the mask, or fill with `finfo.tiny`, a number just above
    zero.
    """
    return scores if mask is None else scores.masked_fill(~mask, 0.0)


@mistake(replaces="hide", dimension="masking")
def hidden_scores_are_minus_ten(scores: Tensor, mask: Tensor | None) -> Tensor:
    """You fill hidden scores with a number that is not low enough.

    With -10 a hidden key keeps a small weight, and a large one where the visible scores are low themselves. Is there
    a number below all others?
    """
    return scores if mask is None else scores.masked_fill(~mask, -10.0)


@mistake(replaces="hide", dimension="masking")
def hidden_scores_are_minus_ten_thousand(scores: Tensor, mask: Tensor | None) -> Tensor:
    """You fill hidden scores with -10,000; logits can be lower than that.

    As long as the visible logits are moderate nothing shows. Where all of them are below -10,000, the hidden keys
    have the largest scores and take all the weight. Is there a number below all others?
    """
    return scores if mask is None else scores.masked_fill(~mask, -1e4)


@mistake(replaces="hide", dimension="masking")
def zero_times_infinity(scores: Tensor, mask: Tensor | None) -> Tensor:
    """You multiply zeros by -inf.

    Turning the mask into numbers and multiplying by -inf gives -inf where it should, but 0 times -inf is `nan`, not
    0, and one `nan` spoils the whole row. Choose between two values instead of computing one.
    """
    return scores if mask is None else scores + (~mask) * float("-inf")


@mistake(replaces="weigh", dimension="masking")
def mask_after_the_softmax(scores: Tensor, mask: Tensor | None) -> Tensor:
    """You mask after the softmax, and the weights no longer add up to one.

    Hidden keys have taken their share in the softmax before you set their weights to zero, and that share is lost. So
    the hidden keys still count. Hide the scores before the softmax, or divide each row by what is left of its sum.
    """
    weights = torch.softmax(scores, dim=-1)
    return weights if mask is None else weights * mask


@mistake(replaces="scaled_dot_product_attention", dimension="masking")
def returns_unmasked_weights(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """You return weights from before the mask.

    Your output is right, but the weights that you return beside it give hidden keys a share. Return the very weights
    that you multiply with the values.
    """
    scores = query @ key.transpose(-2, -1) / math.sqrt(key.shape[-1])
    masked = scores if mask is None else scores.masked_fill(~mask, float("-inf"))
    return torch.softmax(masked, dim=-1) @ value, torch.softmax(scores, dim=-1)


@mistake(replaces="mix", dimension="gradients")
def detached_weights(weights: Tensor, value: Tensor) -> Tensor:
    """Your weights are cut off from queries and keys.

    The output is right, but only the values get a gradient; queries and keys could never learn where to look. Search
    for `.detach()`, `.data`, `torch.no_grad()`, or a new tensor made from the weights.
    """
    return weights.detach() @ value


@mistake(replaces="mix", dimension="gradients")
def detached_values(weights: Tensor, value: Tensor) -> Tensor:
    """Your values are cut off from the output.

    The output is right, but no gradient reaches `value`. Search for `.detach()`, `.data`, `torch.no_grad()`, or a new
    tensor made from the values.
    """
    return weights @ value.detach()
