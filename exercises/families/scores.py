"""Mistakes in the scores: the products of queries and keys, and their scaling."""

from __future__ import annotations

import math

from torch import Tensor

from grader.exercise.mistakes import mistake


@mistake(replaces="scale", dimension="numerics", common=True)
def no_scaling(scores: Tensor, d_k: int) -> Tensor:
    """You do not divide the scores by the square root of the key width.

    You apply the softmax directly to the dot products. The wider the keys, the larger these products, and the softmax
    then gives nearly all weight to one key. Scale the scores before the softmax.
    """
    return scores


@mistake(replaces="scale", dimension="numerics", common=True)
def scaled_by_the_width_itself(scores: Tensor, d_k: int) -> Tensor:
    """You divide the scores by the key width, not by its square root.

    Your weights are too uniform. A dot product of n random numbers has a standard deviation of √n, and the division
    compensates for that. (Dividing by the square root twice, for queries and for scores, has the same effect.)
    """
    return scores / d_k


@mistake(replaces="scale", dimension="numerics", common=True)
def scaled_by_half_the_width(scores: Tensor, d_k: int) -> Tensor:
    """You divide the scores by half the key width, not by its square root.

    `d_k ** 1/2` is (d_k ** 1) / 2, because the power is evaluated before the division; and `d_k * 0.5` is a product.
    Write `d_k ** 0.5` or `math.sqrt(d_k)`. (The two are equal only for a width of four.)
    """
    return scores / (d_k / 2)


@mistake(replaces="scale", dimension="numerics", common=True)
def scaled_by_twice_the_width(scores: Tensor, d_k: int) -> Tensor:
    """You divide the scores by twice the key width, not by its square root.

    `scores / d_k ** 1/2` is evaluated as (scores / d_k) / 2, because the power is evaluated before the divisions. Write
    `d_k ** 0.5`, or put the exponent in parentheses.
    """
    return scores / d_k / 2


@mistake(replaces="scale", dimension="numerics", common=True)
def scaled_by_the_rounded_root(scores: Tensor, d_k: int) -> Tensor:
    """You round the square root of the key width down to an integer.

    Your divisor is too small, except for widths such as 4, 16 or 64. Look for an `int(...)`, an `isqrt` or a `//`.
    """
    return scores / math.isqrt(d_k)


@mistake(replaces="scale", dimension="numerics", common=True)
def halved(scores: Tensor, d_k: int) -> Tensor:
    """You always divide the scores by 2.

    That is right only for a key width of 4. Take the square root of the keys' actual width: an exponent of 0.5 is not a
    factor of 0.5.
    """
    return scores / 2


@mistake(replaces="scale", dimension="numerics")
def divided_by_eight(scores: Tensor, d_k: int) -> Tensor:
    """You always divide the scores by 8.

    That is right only for a key width of 64, as in the paper. Take the square root of the keys' actual width.
    """
    return scores / 8


@mistake(replaces="scale", dimension="numerics", common=True)
def multiplied_by_the_root(scores: Tensor, d_k: int) -> Tensor:
    """You multiply the scores by the square root instead of dividing.

    Your weights are far too concentrated, because wide keys make the scores even larger. Powers of 0.5 and -0.5 are
    inverses: check which one you use, and with which operator.
    """
    return scores * math.sqrt(d_k)


@mistake(replaces="scale", dimension="numerics")
def scaled_by_the_fourth_root(scores: Tensor, d_k: int) -> Tensor:
    """You divide by the fourth root of the key width.

    You may split the scaling between queries and keys, but only if you scale both; here only one is scaled. Multiply
    all your factors: is the result 1/√d?
    """
    return scores / math.sqrt(math.sqrt(d_k))


@mistake(replaces="scale", dimension="numerics", common=True)
def scaled_by_the_length(scores: Tensor, d_k: int) -> Tensor:
    """You divide the scores by the square root of the number of keys.

    The magnitude of a dot product grows with the number of features, not with the number of positions. Check which axis
    you take the size from.
    """
    return scores / math.sqrt(scores.shape[-1])


@mistake(replaces="scale", dimension="numerics", common=True)
def scaled_by_the_number_of_queries(scores: Tensor, d_k: int) -> Tensor:
    """You divide the scores by the square root of the number of queries.

    The magnitude of a dot product grows with the number of features, the last axis of the queries; you use the axis
    before it. Check which axis you take the size from.
    """
    return scores / math.sqrt(scores.shape[-2])


@mistake(replaces="scale", dimension="numerics", common=True)
def scaled_by_the_number_of_heads(scores: Tensor, d_k: int) -> Tensor:
    """You divide the scores by the square root of the number of heads.

    Use the width of one head instead. Check which axis you take the size from.
    """
    return scores / math.sqrt(scores.shape[1])


@mistake(replaces="scale", dimension="numerics", common=True)
def scaled_by_the_width_of_all_heads(scores: Tensor, d_k: int) -> Tensor:
    """You divide the scores by the square root of the total width of all heads.

    A score is a dot product of two vectors as wide as *one* head, so your weights are too uniform.
    """
    return scores / math.sqrt(d_k * scores.shape[1])


@mistake(replaces="scores_of", dimension="numerics", common=True)
def queries_meet_queries(queries: Tensor, keys: Tensor) -> Tensor:
    """You compute scores between queries and queries.

    Your keys have no effect on the scores, and their projection gets no gradient. Check both factors of the product,
    and where your keys come from.
    """
    return queries @ queries.transpose(-2, -1)


@mistake(replaces="scores_of", dimension="numerics", common=True)
def keys_meet_keys(queries: Tensor, keys: Tensor) -> Tensor:
    """You compute scores between keys and keys.

    Your queries have no effect on the scores, and their projection gets no gradient. Check both factors of the product,
    and where your queries come from.
    """
    return keys @ keys.transpose(-2, -1)


@mistake(replaces="scores_of", dimension="numerics", common=True)
def keys_ask_queries(queries: Tensor, keys: Tensor) -> Tensor:
    """Your score matrix is transposed.

    Row i holds the scores of key i with every query. It must hold the scores of *query* i with every key. Check the
    order of the two factors, which of them you transpose, and whether you swapped them earlier.
    """
    return keys @ queries.transpose(-2, -1)


@mistake(replaces="scores_of", dimension="numerics")
def distances_for_products(queries: Tensor, keys: Tensor) -> Tensor:
    """Your scores have the wrong sign.

    The larger the dot product of query and key, the smaller your score. Look for a minus sign, or for a distance
    instead of a dot product.
    """
    return -(queries @ keys.transpose(-2, -1))


@mistake(replaces="scores_of", dimension="numerics")
def cosines_for_products(queries: Tensor, keys: Tensor) -> Tensor:
    """You compare only directions: your queries and keys have length one.

    The dot product also depends on the lengths of the two vectors, which are trained as well. Look for a `normalize`, a
    division by a norm, or a cosine similarity.
    """
    lengths = queries.norm(dim=-1, keepdim=True) * keys.norm(dim=-1).unsqueeze(-2)
    cosines: Tensor = queries @ keys.transpose(-2, -1) / lengths
    return cosines


@mistake(replaces="scores_of", dimension="numerics")
def keys_reshaped(queries: Tensor, keys: Tensor) -> Tensor:
    """You reshape the keys instead of transposing them.

    `view` and `reshape` to (d_k, T_k) keep the order of the numbers, so the columns are not keys. Use `transpose(-2,
    -1)`.
    """
    return queries @ keys.reshape(*keys.shape[:-2], keys.shape[-1], keys.shape[-2])
