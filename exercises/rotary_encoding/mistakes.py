"""What students get wrong in the rotary position encoding."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from grader.exercise.mistakes import mistake

Pair = tuple[Tensor, Tensor]


@mistake(replaces="rotate", dimension="numerics")
def pairs_feature_with_half_width(x: Tensor, angles: Tensor) -> Tensor:
    """You pair feature i with feature i + d/2.

    Some models use that layout, and store their parameters accordingly. Here the pairs are adjacent: (0, 1), (2, 3), ….
    Check whether your code splits x into two halves.
    """
    first, second = x.chunk(2, dim=-1)
    cosine, sine = angles.cos(), angles.sin()
    return torch.cat((first * cosine - second * sine, first * sine + second * cosine), dim=-1)


@mistake(replaces="merge", dimension="numerics")
def puts_halves_side_by_side(first: Tensor, second: Tensor) -> Tensor:
    """You put the rotated pairs back in the wrong places.

    You split and rotate adjacent pairs correctly, but then concatenate: all first features, then all second features.
    Interleave them instead, for example with `stack` and `flatten`.
    """
    return torch.cat((first, second), dim=-1)


@mistake(replaces="split", dimension="numerics")
def takes_halves_apart(x: Tensor) -> Pair:
    """You split x into two halves, but put the results back as adjacent pairs.

    The results for features i and i + d/2 go to 2i and 2i + 1. Split and merge must use the same layout, and here pairs
    are adjacent.
    """
    first, second = x.chunk(2, dim=-1)
    return first, second


@mistake(replaces="rotate", dimension="numerics")
def angles_in_another_layout(x: Tensor, angles: Tensor) -> Tensor:
    """Your pairs are adjacent, but your angles are laid out in halves.

    Angles concatenated with themselves fit pairs (i, i + d/2). The two features of an adjacent pair then get different
    angles, which is not a rotation. For adjacent pairs repeat each angle twice in a row, for example with
    `repeat_interleave`.
    """
    doubled = torch.cat((angles, angles), dim=-1)
    other = torch.stack((-x[..., 1::2], x[..., 0::2]), dim=-1).flatten(-2)
    return x * doubled.cos() + other * doubled.sin()


@mistake(replaces="rotate", dimension="numerics")
def halves_turned_by_repeated_angles(x: Tensor, angles: Tensor) -> Tensor:
    """Your angles are laid out for adjacent pairs, but you rotate halves.

    You repeat each angle twice in a row, but pair feature i with feature i + d/2. The two features of a pair then get
    different angles, which is not a rotation. Here pairs are adjacent.
    """
    doubled = angles.repeat_interleave(2, dim=-1)
    first, second = x.chunk(2, dim=-1)
    return x * doubled.cos() + torch.cat((-second, first), dim=-1) * doubled.sin()


@mistake(replaces="rotate", dimension="numerics")
def turns_nothing(x: Tensor, angles: Tensor) -> Tensor:
    """You return x unchanged.

    The scores then do not depend on the position. If you do compute the rotated features, check that you return them.
    """
    return x


@mistake(replaces="rotate", dimension="numerics")
def adds_sines_and_cosines(x: Tensor, angles: Tensor) -> Tensor:
    """You add sines and cosines to x.

    That is the sinusoidal encoding. Here nothing is added: each pair is rotated, which keeps its length.
    """
    return x + torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(-2)


@mistake(replaces="rotate", dimension="numerics")
def half_the_width_turned(x: Tensor, angles: Tensor) -> Tensor:
    """You rotate only the first half of the features.

    The others are returned unchanged. There are d/2 pairs among d features; check whether a loop or slice stops at
    feature d/2.
    """
    pairs = x.shape[-1] // 4
    angles = torch.cat((angles[..., :pairs], torch.zeros_like(angles[..., pairs:])), dim=-1)
    first, second = x[..., 0::2], x[..., 1::2]
    cosine, sine = angles.cos(), angles.sin()
    return torch.stack((first * cosine - second * sine, first * sine + second * cosine), dim=-1).flatten(-2)


@mistake(replaces="turn", dimension="numerics")
def turns_the_other_way(first: Tensor, second: Tensor, angles: Tensor) -> Pair:
    """You rotate in the opposite direction.

    The scores would be the same if queries and keys both rotated that way, but the exercise fixes the direction: at
    position 1 the pair (1, 0) becomes (cos 1, sin 1). Check the signs of the two sines.
    """
    cosine, sine = angles.cos(), angles.sin()
    return first * cosine + second * sine, second * cosine - first * sine


@mistake(replaces="turn", dimension="numerics")
def both_signs_are_plus(first: Tensor, second: Tensor, angles: Tensor) -> Pair:
    """Both your sines have a plus sign.

    Then the lengths of the pairs change, which a rotation never does. The sine in the first feature has a minus sign: a
    cos θ - b sin θ.
    """
    cosine, sine = angles.cos(), angles.sin()
    return first * cosine + second * sine, first * sine + second * cosine


@mistake(replaces="turn", dimension="numerics")
def second_feature_mirrored(first: Tensor, second: Tensor, angles: Tensor) -> Pair:
    """The cosine in your second feature has the wrong sign.

    You compute (a cos θ - b sin θ, a sin θ - b cos θ). At position 0, where nothing must change, your second features
    change their sign. The second feature is a sin θ + b cos θ.
    """
    cosine, sine = angles.cos(), angles.sin()
    return first * cosine - second * sine, first * sine - second * cosine


@mistake(replaces="turn", dimension="numerics")
def sine_and_cosine_swapped(first: Tensor, second: Tensor, angles: Tensor) -> Pair:
    """You swap sine and cosine.

    At position 0 all angles are 0 and x must not change. Which of sin 0 and cos 0 is 1?
    """
    cosine, sine = angles.cos(), angles.sin()
    return first * sine - second * cosine, first * cosine + second * sine


@mistake(replaces="turn", dimension="numerics")
def uses_the_turned_feature_again(first: Tensor, second: Tensor, angles: Tensor) -> Pair:
    """You overwrite the first feature before you compute the second.

    The second feature of a pair needs the *old* first feature. Slices of a tensor are views, so writing into the tensor
    changes them too. Compute both results before you write.
    """
    cosine, sine = angles.cos(), angles.sin()
    first = first * cosine - second * sine
    return first, first * sine + second * cosine


@mistake(replaces="turn", dimension="numerics")
def second_feature_left_alone(first: Tensor, second: Tensor, angles: Tensor) -> Pair:
    """You rotate only the first feature of each pair; the second is unchanged.

    A rotation changes both coordinates of a point. Check the line for the odd features, and whether its result is used.
    """
    return first * angles.cos() - second * angles.sin(), second


@mistake(replaces="turn", dimension="numerics")
def features_only_scaled(first: Tensor, second: Tensor, angles: Tensor) -> Pair:
    """You only multiply each feature by a sine or cosine.

    You compute a cos θ and b sin θ, without combining them. In a rotation each new coordinate depends on both old ones.
    """
    return first * angles.cos(), second * angles.sin()


@mistake(replaces="positions", dimension="numerics")
def positions_from_one(x: Tensor, offset: int) -> Tensor:
    """Your positions start at 1.

    The first token has position `offset`, 0 by default, and at position 0 nothing is rotated. All your positions are
    too large by one.
    """
    return torch.arange(1, x.shape[-2] + 1, dtype=x.dtype)[:, None] + offset


@mistake(replaces="positions", dimension="numerics")
def offset_ignored(x: Tensor, offset: int) -> Tensor:
    """Your positions always start at 0: you ignore `offset`.

    In token-by-token decoding every token would have position 0. Token t has position offset + t.
    """
    return torch.arange(x.shape[-2], dtype=x.dtype)[:, None]


@mistake(replaces="positions", dimension="numerics")
def offset_subtracted(x: Tensor, offset: int) -> Tensor:
    """You subtract the offset.

    The first token has position `offset`; yours has -`offset`. Token t has position offset + t.
    """
    return torch.arange(x.shape[-2], dtype=x.dtype)[:, None] - offset


@mistake(replaces="positions", dimension="numerics")
def offset_multiplies(x: Tensor, offset: int) -> Tensor:
    """You multiply the positions by the offset.

    The distance between neighbouring tokens is always 1. Add the offset instead.
    """
    return torch.arange(x.shape[-2], dtype=x.dtype)[:, None] * (1 + offset) + offset


@mistake(replaces="positions", dimension="numerics")
def same_position_for_all(x: Tensor, offset: int) -> Tensor:
    """All your tokens have the position of the first one.

    Only the first token has position `offset`; token t has offset + t. If all tokens are rotated equally, scores do not
    depend on their distance.
    """
    return torch.full((x.shape[-2], 1), float(offset), dtype=x.dtype)


@mistake(replaces="positions", dimension="numerics")
def turned_along_the_heads(x: Tensor, offset: int) -> Tensor:
    """You count positions along the head axis.

    All tokens of your head 0 are rotated by the angles of position 0, all of head 1 by those of position 1. x is
    (batch, heads, time, dim): check which axis you take the number of positions from, and how the angles broadcast.
    """
    return torch.arange(x.shape[1], dtype=x.dtype)[:, None, None] + offset


@mistake(replaces="positions", dimension="numerics")
def turned_along_the_batch(x: Tensor, offset: int) -> Tensor:
    """You count positions along the batch axis.

    All tokens of your first sequence are rotated as at position 0, all of the second as at position 1. x is (batch,
    heads, time, dim): check which axis you take the number of positions from, and how the angles broadcast.
    """
    return torch.arange(x.shape[0], dtype=x.dtype)[:, None, None, None] + offset


@mistake(replaces="positions", dimension="numerics")
def positions_between_zero_and_one(x: Tensor, offset: int) -> Tensor:
    """You divide the positions by the sequence length.

    Then the angle between neighbouring tokens depends on the length of the sequence. Positions are integers.
    """
    return (torch.arange(x.shape[-2], dtype=x.dtype)[:, None] + offset) / x.shape[-2]


@mistake(replaces="positions", dimension="numerics")
def positions_count_backwards(x: Tensor, offset: int) -> Tensor:
    """Your positions are in reverse order.

    Your last token has the first position. Positions grow from left to right, starting at `offset`.
    """
    return torch.arange(x.shape[-2] - 1, -1, -1, dtype=x.dtype)[:, None] + offset


@mistake(replaces="angles", dimension="numerics")
def angles_in_degrees(positions: Tensor, frequencies: Tensor) -> Tensor:
    """You convert the angles from degrees to radians.

    Position times frequency is already an angle in radians.
    """
    return torch.deg2rad(positions * frequencies)


@mistake(replaces="angles", dimension="numerics")
def angles_made_degrees(positions: Tensor, frequencies: Tensor) -> Tensor:
    """You convert the angles from radians to degrees.

    Position times frequency is an angle in radians, and `torch.sin` and `torch.cos` expect radians.
    """
    return torch.rad2deg(positions * frequencies)


@mistake(replaces="angles", dimension="numerics")
def whole_turns(positions: Tensor, frequencies: Tensor) -> Tensor:
    """You multiply the angles by 2π.

    Position times frequency is already the angle in radians. With the factor 2π, your first pair makes a full turn per
    position, so it never changes.
    """
    return 2 * math.pi * positions * frequencies


@mistake(replaces="frequencies", dimension="numerics")
def base_ignored(exponents: Tensor, base: float) -> Tensor:
    """You always use base 10,000.

    `base` is an argument. Look for a number where the name should be.
    """
    return 10000.0**exponents


@mistake(replaces="frequencies", dimension="numerics")
def default_base_1000(exponents: Tensor, base: float) -> Tensor:
    """Your default base is 1,000 instead of 10,000.

    With the default base, the first pair is right, because its exponent is 0, and all later pairs rotate too fast.
    Count the zeros.
    """
    return (1000.0 if base == 10000.0 else base) ** exponents


@mistake(replaces="frequencies", dimension="numerics")
def one_frequency_for_all(exponents: Tensor, base: float) -> Tensor:
    """All your pairs have the same frequency.

    Your exponent is 0 everywhere, for example because you use integer division (`//`) for 2i/d. Print your frequencies:
    they should fall from 1 towards 1/base.
    """
    return torch.ones_like(exponents)


@mistake(replaces="frequencies", dimension="numerics")
def frequencies_grow(exponents: Tensor, base: float) -> Tensor:
    """Your frequencies grow from pair to pair; they should fall.

    You multiply the position by base^(2i/d) where the formula divides. If you use exp and log, or a power, look for a
    missing minus sign.
    """
    return base ** (-exponents)


@mistake(replaces="frequencies", dimension="numerics")
def frequencies_reversed(exponents: Tensor, base: float) -> Tensor:
    """Your frequencies are in reverse order.

    Pair 0 rotates fastest, by one radian per position, and the last pair slowest.
    """
    return (base**exponents).flip(-1)


@mistake(replaces="frequencies", dimension="numerics")
def decimal_logarithm(exponents: Tensor, base: float) -> Tensor:
    """You use a base-10 logarithm together with exp.

    exp(-2i/d · log10(base)) is not base^(-2i/d): your later pairs rotate too fast. Use the natural logarithm.
    """
    return torch.exp(exponents * math.log10(base))


@mistake(replaces="exponents", dimension="numerics")
def exponent_doubled(x: Tensor) -> Tensor:
    """Your exponents are twice as large as they should be.

    The even numbers 0, 2, 4, … are already 2i, so another factor of 2 gives 4i. Dividing 2i by d/2 instead of d has the
    same effect. Check what your index counts, and what you divide by.
    """
    return -2 * torch.arange(0, x.shape[-1], 2, dtype=x.dtype) / x.shape[-1]


@mistake(replaces="exponents", dimension="numerics")
def exponent_halved(x: Tensor) -> Tensor:
    """Your exponents are half as large as they should be.

    You use i/d with i = 0, 1, 2, …, where the formula has 2i/d. Your frequencies fall too slowly.
    """
    return -torch.arange(x.shape[-1] // 2, dtype=x.dtype) / x.shape[-1]


@mistake(replaces="exponents", dimension="numerics")
def exponent_from_two(x: Tensor) -> Tensor:
    """You count the pairs from 1.

    Your first exponent is 2/d. In the formula i starts at 0: pair 0 rotates by one radian per position.
    """
    return -torch.arange(2, x.shape[-1] + 1, 2, dtype=x.dtype) / x.shape[-1]


@mistake(replaces="exponents", dimension="numerics")
def spread_up_to_the_last_pair(x: Tensor) -> Tensor:
    """Your exponents go from 0 to 1, with 1 included.

    Your last pair has frequency 1/base. In the formula the last exponent is (d - 2)/d. Check the denominator of your
    exponent.
    """
    pairs = x.shape[-1] // 2
    return -torch.arange(pairs, dtype=x.dtype) / max(pairs - 1, 1)


@mistake(replaces="apply_rotary", dimension="numerics")
def each_feature_has_its_own_angle(x: Tensor, base: float = 10000.0, offset: int = 0) -> Tensor:
    """Each of your features has its own angle.

    You use exponent j/d for feature j. The two features of a pair must share one angle, otherwise it is not a rotation.
    There are d/2 angles, i = 0 … d/2 - 1; each is used for features 2i and 2i + 1.
    """
    exponents = -torch.arange(x.shape[-1], dtype=x.dtype) / x.shape[-1]
    angles = (torch.arange(x.shape[-2], dtype=x.dtype)[:, None] + offset) * base**exponents
    other = torch.stack((-x[..., 1::2], x[..., 0::2]), dim=-1).flatten(-2)
    return x * angles.cos() + other * angles.sin()


@mistake(replaces="merge", dimension="shapes")
def pairs_left_apart(first: Tensor, second: Tensor) -> Tensor:
    """You return the pairs on a separate axis.

    Your result has shape (…, d/2, 2). It must have the shape of x: flatten the last two axes.
    """
    return torch.stack((first, second), dim=-1)


@mistake(replaces="merge", dimension="shapes")
def heads_behind_time(first: Tensor, second: Tensor) -> Tensor:
    """You return time before heads.

    The result must have the axes of x, (batch, heads, time, dim). Look for a transpose that you do not undo.
    """
    return torch.stack((first, second), dim=-1).flatten(-2).transpose(1, 2)


@mistake(replaces="merge", dimension="gradients")
def result_cut_off(first: Tensor, second: Tensor) -> Tensor:
    """No gradient flows through your rotation.

    The numbers are right, but the projections that produce x could not be trained. Look for `detach()`, `.data`,
    `no_grad`, NumPy, or a new tensor made from the rotated features.
    """
    return torch.stack((first, second), dim=-1).flatten(-2).detach()


@mistake(replaces="split", dimension="gradients")
def second_features_cut_off(x: Tensor) -> Pair:
    """No gradient reaches the second features of your pairs.

    The numbers are right, but half of x gets no gradient. Look for `detach()` or `.data` where you take the odd
    features.
    """
    return x[..., 0::2], x[..., 1::2].detach()


@mistake(replaces="merge", dimension="numerics")
def pairs_put_back_swapped(first: Tensor, second: Tensor) -> Tensor:
    """You swap the two numbers of each pair.

    a cos θ - b sin θ belongs to feature 2i, and a sin θ + b cos θ to feature 2i + 1. Check the order in which you stack
    them.
    """
    return torch.stack((second, first), dim=-1).flatten(-2)


@mistake(replaces="rotate", dimension="numerics")
def partners_from_the_halves(x: Tensor, angles: Tensor) -> Tensor:
    """You mix two layouts: partners from halves, places from adjacent pairs.

    There are two conventions, adjacent pairs (0, 1) and halves (0, d/2). Here the partner of feature 0 is feature 1:
    use `x[..., 0::2]` and `x[..., 1::2]`.
    """
    half = x.shape[-1] // 2
    partners = torch.stack((-x[..., half:], x[..., :half]), dim=-1).flatten(-2)
    wide = angles.repeat_interleave(2, dim=-1)
    return (x * wide.cos() + partners * wide.sin()).to(x.dtype)
