"""What goes wrong between queries and keys: their products, and the scaling of those."""

from __future__ import annotations

import math

from torch import Tensor

from grader.exercise.mistakes import mistake


@mistake(replaces="scale", dimension="numerics")
def no_scaling(scores: Tensor, d_k: int) -> Tensor:
    """You do not divide the scores by the root of a key's width.

    Your output is what attention gives when the plain dot products go into the softmax. The wider the keys, the
    larger those products, and the softmax then picks one key almost alone. Look between the product and the softmax.
    """
    return scores


@mistake(replaces="scale", dimension="numerics")
def scaled_by_the_width_itself(scores: Tensor, d_k: int) -> Tensor:
    """You divide the scores by a key's width, not by its square root.

    Your weights come out too even. A dot product of n random numbers has a standard deviation of √n, and that is what
    the division takes back. (Dividing by the root twice, queries first and scores again, comes to the same.)
    """
    return scores / d_k


@mistake(replaces="scale", dimension="numerics")
def scaled_by_half_the_width(scores: Tensor, d_k: int) -> Tensor:
    """You divide the scores by half a key's width, not by its square root.

    `d_k ** 1/2` is (d_k ** 1) / 2, because the power comes before the division; and `d_k * 0.5` is a product. Write
    `d_k ** 0.5` or `math.sqrt(d_k)`. (At a width of four, and there alone, both are the same.)
    """
    return scores / (d_k / 2)


@mistake(replaces="scale", dimension="numerics")
def scaled_by_twice_the_width(scores: Tensor, d_k: int) -> Tensor:
    """You divide the scores by twice a key's width, not by its square root.

    `scores / d_k ** 1/2` is read from the left: the scores by d_k, and what comes of that by 2. A power comes before a
    division, so the exponent needs brackets, or has to be 0.5.
    """
    return scores / d_k / 2


@mistake(replaces="scale", dimension="numerics")
def scaled_by_the_rounded_root(scores: Tensor, d_k: int) -> Tensor:
    """You round the root of a key's width down to a whole number.

    Your scores are divided by too little. Nothing shows at widths of 4, 16 or 64. Look for an `int(...)`, an `isqrt`
    or a `//` round the root.
    """
    return scores / math.isqrt(d_k)


@mistake(replaces="scale", dimension="numerics")
def halved(scores: Tensor, d_k: int) -> Tensor:
    """You divide the scores by two, whatever the width of a key.

    That is the root of four, and right for keys of that width alone. Take the width from the keys themselves, and its
    root: an exponent of 0.5 is not a factor of 0.5.
    """
    return scores / 2


@mistake(replaces="scale", dimension="numerics")
def divided_by_eight(scores: Tensor, d_k: int) -> Tensor:
    """You divide the scores by eight, whatever the width of a key.

    That is the root of 64, the width of a head in the paper, and right for keys of that width alone. Take the width
    from the keys themselves.
    """
    return scores / 8


@mistake(replaces="scale", dimension="numerics")
def multiplied_by_the_root(scores: Tensor, d_k: int) -> Tensor:
    """You multiply the scores by the root where a division belongs.

    Your weights come out far too sharp: the factor that should tame wide keys makes them louder. A power of 0.5 and
    one of -0.5 are each other's inverse; check which of the two you use, and with which operator.
    """
    return scores * math.sqrt(d_k)


@mistake(replaces="scale", dimension="numerics")
def scaled_by_the_fourth_root(scores: Tensor, d_k: int) -> Tensor:
    """You scale by the fourth root of a key's width.

    Splitting the scaling between queries and keys is fine if both take their part; here only one of them does, so the
    scores are divided by too little. Multiply all your factors together: what do they come to?
    """
    return scores / math.sqrt(math.sqrt(d_k))


@mistake(replaces="scale", dimension="numerics")
def scaled_by_the_length(scores: Tensor, d_k: int) -> Tensor:
    """You divide the scores by the root of the number of keys.

    What grows a dot product is the number of features that it adds up, not the number of positions. Look at the axis
    whose size you take the root of.
    """
    return scores / math.sqrt(scores.shape[-1])


@mistake(replaces="scale", dimension="numerics")
def scaled_by_the_number_of_queries(scores: Tensor, d_k: int) -> Tensor:
    """You divide the scores by the root of the number of queries.

    What grows a dot product is the number of features that it adds up, and that is the last axis of the queries, not
    the one before it. Look at the size that you take the root of.
    """
    return scores / math.sqrt(scores.shape[-2])


@mistake(replaces="scale", dimension="numerics")
def scaled_by_the_number_of_heads(scores: Tensor, d_k: int) -> Tensor:
    """You divide the scores by the root of the number of heads.

    Look at which axis you take the size from: it is the width of a head that counts, not how many there are.
    """
    return scores / math.sqrt(scores.shape[1])


@mistake(replaces="scale", dimension="numerics")
def scaled_by_the_width_of_all_heads(scores: Tensor, d_k: int) -> Tensor:
    """You divide the scores by the root of the width of all heads together.

    That is right for one head. Here a score is a dot product of two vectors as wide as *one* head, so your weights
    come out too even.
    """
    return scores / math.sqrt(d_k * scores.shape[1])


@mistake(replaces="scores_of", dimension="numerics")
def queries_meet_queries(queries: Tensor, keys: Tensor) -> Tensor:
    """You score queries against queries.

    Your keys have no say in the scores, and nothing that makes them gets a gradient. Look at both sides of the product,
    and at where your keys come from.
    """
    return queries @ queries.transpose(-2, -1)


@mistake(replaces="scores_of", dimension="numerics")
def keys_meet_keys(queries: Tensor, keys: Tensor) -> Tensor:
    """You score keys against keys.

    Your queries have no say in the scores, and nothing that makes them gets a gradient. Look at both sides of the
    product, and at where your queries come from.
    """
    return keys @ keys.transpose(-2, -1)


@mistake(replaces="scores_of", dimension="numerics")
def keys_ask_queries(queries: Tensor, keys: Tensor) -> Tensor:
    """Your table of scores lies on its side.

    In row i you have the scores of key i with every query. A row has to be what *one query* thinks of every key. Look
    at the order of the two factors, at which of them is transposed, and at whether the two have changed places before.
    """
    return keys @ queries.transpose(-2, -1)


@mistake(replaces="scores_of", dimension="numerics")
def distances_for_products(queries: Tensor, keys: Tensor) -> Tensor:
    """Your scores have the wrong sign.

    The better a key fits, the lower your score, so it gets the least weight. Look for a minus sign, or for a distance
    where the dot product belongs.
    """
    return -(queries @ keys.transpose(-2, -1))


@mistake(replaces="scores_of", dimension="numerics")
def cosines_for_products(queries: Tensor, keys: Tensor) -> Tensor:
    """You compare directions alone: your queries and keys have length one.

    The dot product also grows with how long the two vectors are, and that is part of what is learnt. Look for a
    `normalize`, a division by a norm, or a cosine similarity.
    """
    lengths = queries.norm(dim=-1, keepdim=True) * keys.norm(dim=-1).unsqueeze(-2)
    cosines: Tensor = queries @ keys.transpose(-2, -1) / lengths
    return cosines


@mistake(replaces="scores_of", dimension="numerics")
def keys_reshaped(queries: Tensor, keys: Tensor) -> Tensor:
    """You reshape the keys where they have to be transposed.

    `view` and `reshape` to (d_k, T_k) only cut the same numbers into other rows: what comes out is no column of a key.
    `transpose(-2, -1)` makes columns of rows.
    """
    return queries @ keys.reshape(*keys.shape[:-2], keys.shape[-1], keys.shape[-2])
