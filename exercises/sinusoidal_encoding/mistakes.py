"""What students get wrong in the sinusoidal encoding."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn

from grader.exercise.families import dropouts
from grader.exercise.mistakes import mistake

drops_in_eval = dropouts.drops_in_eval
never_drops = dropouts.never_drops
drops_without_scaling = dropouts.drops_without_rescaling
keeps_what_it_should_drop = dropouts.keeps_what_it_should_drop
scales_in_eval = dropouts.scales_in_eval
dropped_ones_learn = dropouts.dropped_ones_learn


@mistake(replaces="frequencies", dimension="numerics")
def base_1000(d_model: int) -> Tensor:
    """Your base is 1,000 instead of 10,000.

    The first pair of dimensions is right, because its exponent is 0, and the frequencies of all later pairs are too
    high. Count the zeros.
    """
    return 1000.0 ** (-torch.arange(0, d_model, 2) / d_model)


@mistake(replaces="frequencies", dimension="numerics")
def exponent_doubled(d_model: int) -> Tensor:
    """Your exponents are twice as large as they should be.

    The even dimensions 0, 2, 4, … are already 2i, so another factor of 2 gives 4i. Your frequencies fall too fast.
    Check what your index counts: pairs or dimensions.
    """
    return 10000.0 ** (-2 * torch.arange(0, d_model, 2) / d_model)


@mistake(replaces="frequencies", dimension="numerics")
def exponent_halved(d_model: int) -> Tensor:
    """Your exponents are half as large as they should be.

    You use i/d_model with i = 0, 1, 2, …, where the formula has 2i/d_model. Your frequencies fall too slowly.
    """
    return 10000.0 ** (-torch.arange(d_model // 2) / d_model)


@mistake(replaces="frequencies", dimension="numerics")
def exponent_positive(d_model: int) -> Tensor:
    """Your frequencies grow along the dimensions; they should fall.

    You multiply the position by 10000^(2i/d_model) where the formula divides. If you use exp and log, look for a
    missing minus sign.
    """
    return 10000.0 ** (torch.arange(0, d_model, 2) / d_model)


@mistake(replaces="frequencies", dimension="numerics")
def all_frequencies_one(d_model: int) -> Tensor:
    """All your pairs of dimensions have the same frequency.

    Your exponent is 0 everywhere, for example because you use integer division (`//`) for 2i/d_model. Print your
    frequencies: they should fall from 1 towards 1/10000.
    """
    return torch.ones(d_model // 2)


@mistake(replaces="frequencies", dimension="numerics")
def spread_up_to_the_last_pair(d_model: int) -> Tensor:
    """Your exponents go from 0 to 1, with 1 included.

    Your last pair has frequency 1/10000. In the formula the last exponent is (d_model - 2)/d_model. Check the
    denominator of your exponent.
    """
    return 10000.0 ** (-torch.arange(d_model // 2) / max(d_model // 2 - 1, 1))


@mistake(replaces="frequencies", dimension="numerics")
def decimal_logarithm(d_model: int) -> Tensor:
    """You use a base-10 logarithm together with exp.

    exp(-2i/d_model · log10(10000)) is not 10000^(-2i/d_model): your frequencies are too high. Use the natural
    logarithm.
    """
    return torch.exp(torch.arange(0, d_model, 2) * (-math.log10(10000.0) / d_model))


@mistake(replaces="table", dimension="numerics")
def cosine_has_its_own_exponent(length: int, d_model: int) -> Tensor:
    """Your cosines use the index of their own dimension in the exponent.

    Both dimensions of a pair have the same frequency: dimension 2i + 1 has the exponent 2i/d_model, not (2i +
    1)/d_model. Your sines are right, but the frequencies of your cosines are too low.
    """
    dimensions = torch.arange(d_model)
    angles = torch.arange(length)[:, None] * 10000.0 ** (-dimensions / d_model)
    return torch.where(dimensions % 2 == 0, angles.sin(), angles.cos())


@mistake(replaces="interleave", dimension="numerics")
def sines_then_cosines(angles: Tensor) -> Tensor:
    """Your first half of the dimensions holds sines, the second half cosines.

    They must alternate: sine in dimension 0, cosine in 1, sine in 2. Interleave the two instead of concatenating them.
    """
    return torch.cat((angles.sin(), angles.cos()), dim=-1)


@mistake(replaces="interleave", dimension="numerics")
def sine_and_cosine_swapped(angles: Tensor) -> Tensor:
    """You swap sine and cosine.

    Even dimensions hold the sine, odd ones the cosine. At position 0 the encoding is 0, 1, 0, 1, …; yours starts with
    1.
    """
    return torch.stack((angles.cos(), angles.sin()), dim=-1).flatten(-2)


@mistake(replaces="interleave", dimension="numerics")
def sines_everywhere(angles: Tensor) -> Tensor:
    """You use the sine in both dimensions of each pair.

    Two different positions can have the same sine; together with the cosine they can be told apart. Odd dimensions hold
    the cosine.
    """
    return torch.stack((angles.sin(), angles.sin()), dim=-1).flatten(-2)


@mistake(replaces="positions", dimension="numerics")
def positions_from_one(length: int) -> Tensor:
    """Your positions start at 1.

    The first token has position 0, and its encoding is 0, 1, 0, 1, …. All your positions are too large by one.
    """
    return torch.arange(1, length + 1)[:, None]


@mistake(replaces="positions", dimension="numerics")
def positions_in_degrees(length: int) -> Tensor:
    """You convert the angles from degrees to radians.

    Position times frequency is already an angle in radians.
    """
    return torch.deg2rad(torch.arange(length) * 1.0)[:, None]


@mistake(replaces="positions", dimension="numerics")
def positions_between_zero_and_one(length: int) -> Tensor:
    """You divide the positions by the length.

    Then the encoding of a position depends on the length, and neighbouring positions have nearly equal encodings.
    Positions are integers: 0, 1, 2, ….
    """
    return torch.arange(length)[:, None] / length


@mistake(replaces="add", dimension="numerics")
def added_along_the_batch(x: Tensor, encodings: Tensor) -> Tensor:
    """You add the encodings along the batch axis.

    All tokens of your first sequence get the encoding of position 0, all of the second that of position 1. Your input
    is (batch, time, d_model), with time on the second axis. Check which size you use to slice the table.
    """
    return x + encodings[: x.shape[0], None]


@mistake(replaces="add", dimension="numerics")
def same_position_for_all(x: Tensor, encodings: Tensor) -> Tensor:
    """You add one row of the table to every token.

    All tokens get the encoding of position T. A sequence of T tokens needs rows 0 to T - 1: use a slice, not an index.
    """
    return x + encodings[min(x.shape[1], len(encodings) - 1)]


@mistake(replaces="add", dimension="numerics")
def embeddings_scaled_up(x: Tensor, encodings: Tensor) -> Tensor:
    """You multiply the input by √d_model.

    That factor belongs to the embedding layer that comes before this module. Here the encodings are added to x itself.
    """
    return x * math.sqrt(x.shape[-1]) + encodings[: x.shape[1]]


@mistake(replaces="add", dimension="numerics")
def multiplied_not_added(x: Tensor, encodings: Tensor) -> Tensor:
    """You multiply the embeddings by the encodings.

    At position 0 every other dimension becomes 0 for every token. Add the encodings instead.
    """
    return x * encodings[: x.shape[1]]


@mistake(replaces="add", dimension="numerics")
def encodings_without_the_input(x: Tensor, encodings: Tensor) -> Tensor:
    """You return only the encodings.

    Your output does not depend on the tokens. Add the encodings to x.
    """
    return encodings[: x.shape[1]].expand_as(x).to(x.dtype)


@mistake(replaces="add", dimension="shapes")
def concatenated_not_added(x: Tensor, encodings: Tensor) -> Tensor:
    """You concatenate the embeddings and the encodings.

    Your output is twice as wide as the input. The encodings are as wide as the embeddings because the two are added.
    """
    return torch.cat((x, encodings[: x.shape[1]].expand_as(x)), dim=-1)


@mistake(replaces="add", dimension="gradients")
def detached_input(x: Tensor, encodings: Tensor) -> Tensor:
    """You detach the input from the graph.

    No output shows it, but no gradient reaches x, so the embeddings before this module could not be trained. Only the
    table needs no gradient. Look for `.detach()`, `.data`, `torch.no_grad()` or a new tensor made from x.
    """
    return x.detach() + encodings[: x.shape[1]]


@mistake(replaces="SinusoidalPositionalEncoding.keep", dimension="gradients")
def table_is_trained(self: Any, encodings: Tensor) -> None:
    """Your table is a parameter.

    Unless it is frozen, an optimiser changes it, so it no longer holds sines and cosines. Even if it is frozen, it
    counts as a parameter. Use `register_buffer` for a tensor that belongs to a module but is not trained.
    """
    self.encodings = nn.Parameter(encodings)


@mistake(replaces="SinusoidalPositionalEncoding.forward", dimension="numerics")
def drops_the_encodings_alone(self: Any, x: Tensor) -> Tensor:
    """You apply dropout to the encodings only.

    The token embeddings are never dropped. Apply dropout to the sum.
    """
    return x + self.dropout(self.encodings[: x.shape[1]].expand_as(x))


@mistake(replaces="SinusoidalPositionalEncoding.forward", dimension="numerics")
def drops_before_adding(self: Any, x: Tensor) -> Tensor:
    """You apply dropout to the embeddings only.

    You add the encodings after the dropout, so they are never dropped. Apply dropout to the sum.
    """
    return self.dropout(x) + self.encodings[: x.shape[1]]


@mistake(replaces="table", dimension="numerics")
def indices_doubled_for_both(length: int, d_model: int) -> Tensor:
    """Your exponents are doubled, and sine and cosine have different ones.

    In `2i / d_model` the index i counts pairs. A loop over 0, 2, 4, … counts dimensions: then the exponent is `i /
    d_model`, for the sine and the cosine of the pair.
    """
    even = torch.arange(0, d_model, 2, dtype=torch.get_default_dtype())
    place = torch.arange(length, dtype=torch.get_default_dtype())[:, None]
    sines, cosines = place / 10000.0 ** (2 * even / d_model), place / 10000.0 ** (2 * (even + 1) / d_model)
    return torch.stack((sines.sin(), cosines.cos()), dim=-1).flatten(-2)
