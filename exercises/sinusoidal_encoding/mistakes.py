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


@mistake(replaces="frequencies", dimension="numerics")
def base_1000(d_model: int) -> Tensor:
    """Your base is 1,000; the formula's is 10,000.

    The first pair of dimensions is right, since its exponent is 0, and every later one turns too fast. Count the
    zeros.
    """
    return 1000.0 ** (-torch.arange(0, d_model, 2) / d_model)


@mistake(replaces="frequencies", dimension="numerics")
def exponent_doubled(d_model: int) -> Tensor:
    """Your exponents are twice as large as they should be.

    Stepping through the even dimensions 0, 2, 4, … already gives 2i; multiplied by 2 once more it is 4i. Your
    frequencies fall too fast. Look at what your index counts, pairs or dimensions.
    """
    return 10000.0 ** (-2 * torch.arange(0, d_model, 2) / d_model)


@mistake(replaces="frequencies", dimension="numerics")
def exponent_halved(d_model: int) -> Tensor:
    """Your exponents are half as large as they should be.

    You count pairs, i = 0, 1, 2, …, and use i/d_model where the formula has 2i/d_model. Your frequencies fall too
    slowly.
    """
    return 10000.0 ** (-torch.arange(d_model // 2) / d_model)


@mistake(replaces="frequencies", dimension="numerics")
def exponent_positive(d_model: int) -> Tensor:
    """Your frequencies grow along the dimensions; they should fall.

    You multiply the position by 10000^(2i/d_model) where the formula divides. If you work with exp and log, look for
    a missing minus sign.
    """
    return 10000.0 ** (torch.arange(0, d_model, 2) / d_model)


@mistake(replaces="frequencies", dimension="numerics")
def all_frequencies_one(d_model: int) -> Tensor:
    """All your pairs of dimensions have the same frequency.

    The exponent comes out as 0 everywhere, as it does when 2i/d_model is a division of integers (`//`): that is 0 for
    every pair. Print your frequencies; they should fall from 1 towards 1/10000.
    """
    return torch.ones(d_model // 2)


@mistake(replaces="frequencies", dimension="numerics")
def spread_up_to_the_last_pair(d_model: int) -> Tensor:
    """You spread the exponents from 0 to 1 with both ends included.

    Your last pair has frequency 1/10000. In the formula the last exponent is (d_model - 2)/d_model, which stops one
    step before 1. Look at the denominator of your exponent.
    """
    return 10000.0 ** (-torch.arange(d_model // 2) / max(d_model // 2 - 1, 1))


@mistake(replaces="frequencies", dimension="numerics")
def decimal_logarithm(d_model: int) -> Tensor:
    """You take a logarithm to base 10 where exp needs the natural one.

    exp(-2i/d_model · log10(10000)) is not 10000^(-2i/d_model): your waves are far too short. exp and log must have
    the same base.
    """
    return torch.exp(torch.arange(0, d_model, 2) * (-math.log10(10000.0) / d_model))


@mistake(replaces="table", dimension="numerics")
def cosine_has_its_own_exponent(length: int, d_model: int) -> Tensor:
    """Your cosines use the index of their own dimension.

    The two dimensions of a pair share one frequency: dimension 2i + 1 has the exponent 2i/d_model, not (2i +
    1)/d_model. Your sines are right and your cosines turn too slowly.
    """
    dimensions = torch.arange(d_model)
    angles = torch.arange(length)[:, None] * 10000.0 ** (-dimensions / d_model)
    return torch.where(dimensions % 2 == 0, angles.sin(), angles.cos())


@mistake(replaces="interleave", dimension="numerics")
def sines_then_cosines(angles: Tensor) -> Tensor:
    """Your sines fill the first half of the dimensions, cosines the second.

    All the numbers are there, in other places. Here they alternate: sine in dimension 0, cosine in 1, sine in 2. A
    concatenation puts halves side by side; what puts them in turn?
    """
    return torch.cat((angles.sin(), angles.cos()), dim=-1)


@mistake(replaces="interleave", dimension="numerics")
def sine_and_cosine_swapped(angles: Tensor) -> Tensor:
    """You have swapped sine and cosine.

    Even dimensions take the sine, odd ones the cosine. At position 0 the encoding is 0, 1, 0, 1, …; yours starts with
    1.
    """
    return torch.stack((angles.cos(), angles.sin()), dim=-1).flatten(-2)


@mistake(replaces="interleave", dimension="numerics")
def sines_everywhere(angles: Tensor) -> Tensor:
    """You use the sine in both dimensions of each pair.

    With the sine alone two positions can look alike in a pair; with the cosine beside it they cannot. Odd dimensions
    take the cosine.
    """
    return torch.stack((angles.sin(), angles.sin()), dim=-1).flatten(-2)


@mistake(replaces="positions", dimension="numerics")
def positions_from_one(length: int) -> Tensor:
    """Your positions start at 1.

    The first token stands at position 0, and its encoding is 0, 1, 0, 1, …. All your encodings are one position
    ahead.
    """
    return torch.arange(1, length + 1)[:, None]


@mistake(replaces="positions", dimension="numerics")
def positions_in_degrees(length: int) -> Tensor:
    """You turn the angles from degrees into radians.

    The angle is the position times the frequency as it is; the sine takes it in radians already.
    """
    return torch.deg2rad(torch.arange(length) * 1.0)[:, None]


@mistake(replaces="positions", dimension="numerics")
def positions_between_zero_and_one(length: int) -> Tensor:
    """You divide the positions by the length.

    Then the encoding of a position depends on how long the table is, and neighbours look almost alike. Positions are
    whole numbers: 0, 1, 2, ….
    """
    return torch.arange(length)[:, None] / length


@mistake(replaces="add", dimension="numerics")
def added_along_the_batch(x: Tensor, encodings: Tensor) -> Tensor:
    """You add the encodings along the batch.

    All tokens of your first sequence get the encoding of position 0, all of the second that of position 1. Your input
    is (batch, time, d_model): time is its second axis. Look at the size by which you cut the table.
    """
    return x + encodings[: x.shape[0], None]


@mistake(replaces="add", dimension="numerics")
def same_position_for_all(x: Tensor, encodings: Tensor) -> Tensor:
    """You add one row of the table to every token.

    All tokens get the encoding of the same position, the one after the last. A sequence of T tokens needs the rows
    from 0 to T - 1: that is a slice, not an index.
    """
    return x + encodings[min(x.shape[1], len(encodings) - 1)]


@mistake(replaces="add", dimension="numerics")
def embeddings_scaled_up(x: Tensor, encodings: Tensor) -> Tensor:
    """You multiply the input by √d_model.

    That factor belongs to the embedding layer in front of this module, and is not part of the contract here: x itself
    is added to the encodings.
    """
    return x * math.sqrt(x.shape[-1]) + encodings[: x.shape[1]]


@mistake(replaces="add", dimension="numerics")
def multiplied_not_added(x: Tensor, encodings: Tensor) -> Tensor:
    """You multiply the embeddings by the encodings.

    At position 0 every other dimension becomes 0, whatever the token was. The encodings are added.
    """
    return x * encodings[: x.shape[1]]


@mistake(replaces="add", dimension="numerics")
def encodings_without_the_input(x: Tensor, encodings: Tensor) -> Tensor:
    """You return the encodings alone.

    Your output does not depend on the tokens. The encodings are to be added to x.
    """
    return encodings[: x.shape[1]].expand_as(x).to(x.dtype)


@mistake(replaces="add", dimension="shapes")
def concatenated_not_added(x: Tensor, encodings: Tensor) -> Tensor:
    """You put the encodings beside the embeddings.

    Your output is twice as wide as the input. The encodings have the embeddings' width because they are added.
    """
    return torch.cat((x, encodings[: x.shape[1]].expand_as(x)), dim=-1)


@mistake(replaces="add", dimension="gradients")
def detached_input(x: Tensor, encodings: Tensor) -> Tensor:
    """You cut the input off from the graph.

    The output is right, but no gradient reaches x, so the embeddings behind it could never be trained. Only the table
    needs no gradient. Search for `.detach()`, `.data`, `torch.no_grad()` or a new tensor made from x.
    """
    return x.detach() + encodings[: x.shape[1]]


@mistake(replaces="SinusoidalPositionalEncoding.keep", dimension="gradients")
def table_is_trained(self: Any, encodings: Tensor) -> None:
    """Your table is a parameter.

    An optimiser that is given the module's parameters would change it, and after a few steps it holds no sinusoids;
    even frozen it is counted among what can be trained. What belongs to a module but is not trained is a buffer.
    """
    self.encodings = nn.Parameter(encodings)


@mistake(replaces="SinusoidalPositionalEncoding.forward", dimension="numerics")
def drops_the_encodings_alone(self: Any, x: Tensor) -> Tensor:
    """Your dropout falls on the encodings alone.

    The tokens themselves pass whole, and some of them lose their position. It is the sum that goes through the
    dropout.
    """
    return x + self.dropout(self.encodings[: x.shape[1]].expand_as(x))


@mistake(replaces="SinusoidalPositionalEncoding.forward", dimension="numerics")
def drops_before_adding(self: Any, x: Tensor) -> Tensor:
    """Your dropout falls on the embeddings alone.

    You drop first and add the encodings afterwards, so no encoding is ever dropped. It is the sum that goes through
    the dropout.
    """
    return self.dropout(x) + self.encodings[: x.shape[1]]


@mistake(replaces="table", dimension="numerics")
def indices_doubled_for_both(length: int, d_model: int) -> Tensor:
    """Both exponents are doubled, and the cosine has one of its own.

    In `2i / d_model` the index i counts pairs. A loop over 0, 2, 4, … counts features: there the exponent is
    `i / d_model`, for the sine and for the cosine beside it.
    """
    even = torch.arange(0, d_model, 2, dtype=torch.get_default_dtype())
    place = torch.arange(length, dtype=torch.get_default_dtype())[:, None]
    sines, cosines = place / 10000.0 ** (2 * even / d_model), place / 10000.0 ** (2 * (even + 1) / d_model)
    return torch.stack((sines.sin(), cosines.cos()), dim=-1).flatten(-2)
