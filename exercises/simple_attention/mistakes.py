"""What students get wrong in simple attention."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from grader.exercise.families import gradients, scores, weights
from grader.exercise.mistakes import mistake, take

Pair = tuple[Tensor, Tensor]

distances_for_products = scores.distances_for_products

from_weights = take(
    weights,
    also=(
        "softmax_over_all_pairs",
        "softmax_of_the_softmax",
        "scores_over_their_sum",
        "not_a_number_made_zero",
        "averages_over_time",
    ),
)

from_gradients = take(gradients)


@mistake(replaces="scores_of", dimension="numerics")
def scaled_by_the_root(queries: Tensor, keys: Tensor) -> Tensor:
    """You divide the scores by √d, which this exercise does not ask for.

    Your weights are too uniform. The scaling comes in a later exercise; here the softmax is applied directly to the dot
    products.
    """
    return queries @ keys.T / math.sqrt(keys.shape[-1])


@mistake(replaces="scores_of", dimension="numerics")
def scaled_by_the_width(queries: Tensor, keys: Tensor) -> Tensor:
    """You divide the scores by d.

    Your scores are means instead of sums: a dot product sums its terms. Look for a `mean`, or for a division before the
    softmax.
    """
    return queries @ keys.T / keys.shape[-1]


@mistake(replaces="scores_of", dimension="numerics")
def cosines_for_products(queries: Tensor, keys: Tensor) -> Tensor:
    """You compare only directions: you scale your tokens to length one first.

    The dot product also depends on the lengths of the two tokens. Look for a `normalize`, a division by a norm, or a
    cosine similarity.
    """
    return torch.cosine_similarity(queries[:, None], keys[None], dim=-1)


@mistake(replaces="scores_of", dimension="numerics")
def squared_distances(queries: Tensor, keys: Tensor) -> Tensor:
    """You use distances between tokens as scores.

    In your code near tokens get more weight; here tokens with a large dot product do. Look for a difference of two
    tokens, or for `cdist`.
    """
    return -((queries[:, None] - keys[None]) ** 2).sum(dim=-1)


@mistake(replaces="normalise", dimension="numerics")
def hides_itself(scores: Tensor) -> Tensor:
    """Your tokens do not attend to themselves.

    Every token attends to the whole sequence, including itself. Check what you do with the diagonal of the scores.
    (With a single token, no key would be left.)
    """
    itself = torch.eye(len(scores), dtype=torch.bool)
    return torch.softmax(scores.masked_fill(itself, float("-inf")), dim=-1)


@mistake(replaces="mix", dimension="numerics")
def adds_the_token_itself(weights: Tensor, values: Tensor) -> Tensor:
    """You add each token to its context.

    That is a residual connection, which belongs to a Transformer block. Here the context is only the weighted sum.
    """
    return values + weights @ values


@mistake(replaces="simple_attention", dimension="shapes")
def features_attend_to_features(x: Tensor) -> Pair:
    """Your features attend to each other, not your tokens.

    Your weights are (d, d): you multiply the transposed tokens by the tokens. A token is a row of x, so a score belongs
    to two *rows*. Check which factor of the first product is transposed.
    """
    weights = torch.softmax(x.T @ x, dim=-1)
    return x @ weights.T, weights


@mistake(replaces="give", dimension="shapes")
def order_of_results(context: Tensor, weights: Tensor) -> Pair:
    """You return the weights first.

    Return two tensors, with the context first. Check your return statement.
    """
    return weights, context


@mistake(replaces="give", dimension="shapes")
def context_alone(context: Tensor, weights: Tensor) -> Tensor:
    """You return only the context.

    Return two tensors: the context, and the attention weights.
    """
    return context


@mistake(replaces="give", dimension="shapes")
def second_token_alone(context: Tensor, weights: Tensor) -> Pair:
    """You return the context of one token only.

    Every token is a query once, so the context has as many rows as x, and so have the weights. Look for an index that
    picks one token as the query.
    """
    return context[1 % len(context)], weights[1 % len(weights)]


@mistake(replaces="simple_attention", dimension="numerics")
def returns_the_scores(x: Tensor) -> Pair:
    """You return the scores instead of the attention weights.

    The context is right. The second return value must be the weights after the softmax; your rows do not add up to one.
    """
    scores = x @ x.T
    return torch.softmax(scores, dim=-1) @ x, scores


@mistake(replaces="scores_of", dimension="numerics")
def halved(queries: Tensor, keys: Tensor) -> Tensor:
    """You divide the scores by 2.

    There is no scaling in this exercise: the softmax is applied directly to the dot products.
    """
    return queries @ keys.T / 2


@mistake(replaces="scores_of", dimension="numerics")
def scaled_by_the_length(queries: Tensor, keys: Tensor) -> Tensor:
    """You divide the scores by the square root of the number of tokens.

    There is no scaling in this exercise: the softmax is applied directly to the dot products.
    """
    return queries @ keys.T / keys.shape[0] ** 0.5


@mistake(replaces="simple_attention", dimension="shapes")
def features_weighted_by_features(x: Tensor) -> Pair:
    """Your weights are between features, not between tokens.

    The scores have a row and a column for each token, (T, T). Yours are (d, d): check which factor of your first
    product is transposed.
    """
    weights = torch.softmax(x.T @ x, dim=-1)
    return x @ weights, weights


@mistake(replaces="give", dimension="numerics")
def returned_on_their_side(context: Tensor, weights: Tensor) -> Pair:
    """You return the transposed attention weights.

    The context is right, so you used the right weights for it. Each row must belong to one query: look for a transpose
    after the weighted sum.
    """
    return context, weights.T


@mistake(replaces="give", dimension="numerics")
def rounded_weights(context: Tensor, weights: Tensor) -> Pair:
    """You return rounded weights.

    They are right to four decimal places only. Round only for printing.
    """
    return context, weights.round(decimals=4)


@mistake(replaces="roles", dimension="numerics")
def mean_taken_off(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """You subtract the mean of the tokens first.

    That changes the dot products. Here the tokens are used unchanged.
    """
    x = x - x.mean(dim=0)
    return x, x, x
