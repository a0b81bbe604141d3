"""What students get wrong in the rotary position encoding."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from grader.exercise.mistakes import mistake

Pair = tuple[Tensor, Tensor]


@mistake(replaces="rotate", dimension="numerics")
def pairs_feature_with_half_width(x: Tensor, angles: Tensor) -> Tensor:
    """You pair each feature with the one half the width away.

    That layout, (i, i + d/2), is used by some models, and their weights are stored to fit it. Here the pairs are
    neighbours: (0, 1), (2, 3), …. If your code cuts x into two halves and turns one against the other, look there.
    """
    first, second = x.chunk(2, dim=-1)
    cosine, sine = angles.cos(), angles.sin()
    return torch.cat((first * cosine - second * sine, first * sine + second * cosine), dim=-1)


@mistake(replaces="merge", dimension="numerics")
def puts_halves_side_by_side(first: Tensor, second: Tensor) -> Tensor:
    """You put the turned pairs back in other places.

    You take neighbours apart and turn them rightly, but then all first features come first and all second ones
    after them. A concatenation puts halves side by side; what puts numbers in turn?
    """
    return torch.cat((first, second), dim=-1)


@mistake(replaces="split", dimension="numerics")
def takes_halves_apart(x: Tensor) -> Pair:
    """You cut x into two halves, and put the results back as neighbours.

    What comes from features i and i + d/2 goes to 2i and 2i + 1. Both ways have to use the same places, and here a
    pair is made of neighbours.
    """
    first, second = x.chunk(2, dim=-1)
    return first, second


@mistake(replaces="rotate", dimension="numerics")
def angles_in_another_layout(x: Tensor, angles: Tensor) -> Tensor:
    """Your pairs are neighbours, but their angles are laid out in halves.

    The angles, put behind a copy of themselves, fit pairs (i, i + d/2). The two features of a neighbouring pair
    then get two different angles, which is no rotation. For neighbours each angle has to come twice in a row.
    """
    doubled = torch.cat((angles, angles), dim=-1)
    other = torch.stack((-x[..., 1::2], x[..., 0::2]), dim=-1).flatten(-2)
    return x * doubled.cos() + other * doubled.sin()


@mistake(replaces="rotate", dimension="numerics")
def halves_turned_by_repeated_angles(x: Tensor, angles: Tensor) -> Tensor:
    """Your angles are laid out for neighbours, but you turn halves.

    Each angle comes twice in a row, as neighbouring pairs need it, while feature i is turned against feature i +
    d/2. The two features of such a pair get two different angles, which is no rotation. Here pairs are neighbours.
    """
    doubled = angles.repeat_interleave(2, dim=-1)
    first, second = x.chunk(2, dim=-1)
    return x * doubled.cos() + torch.cat((-second, first), dim=-1) * doubled.sin()


@mistake(replaces="rotate", dimension="numerics")
def turns_nothing(x: Tensor, angles: Tensor) -> Tensor:
    """You return x as it came.

    Scores of such queries and keys do not depend on the position at all. Perhaps you compute the turned features
    and return something else.
    """
    return x


@mistake(replaces="rotate", dimension="numerics")
def adds_sines_and_cosines(x: Tensor, angles: Tensor) -> Tensor:
    """You add sines and cosines to x.

    That is the sinusoidal encoding. Here nothing is added: each pair is turned, so its length stays what it was.
    """
    return x + torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(-2)


@mistake(replaces="rotate", dimension="numerics")
def half_the_width_turned(x: Tensor, angles: Tensor) -> Tensor:
    """You turn only the first half of the features.

    The others are returned as they came. There are d/2 pairs among d features; a loop or a slice of yours may stop
    at feature d/2.
    """
    pairs = x.shape[-1] // 4
    angles = torch.cat((angles[..., :pairs], torch.zeros_like(angles[..., pairs:])), dim=-1)
    first, second = x[..., 0::2], x[..., 1::2]
    cosine, sine = angles.cos(), angles.sin()
    return torch.stack((first * cosine - second * sine, first * sine + second * cosine), dim=-1).flatten(-2)


@mistake(replaces="turn", dimension="numerics")
def turns_the_other_way(first: Tensor, second: Tensor, angles: Tensor) -> Pair:
    """You turn in the opposite direction.

    Scores would come out the same if queries and keys both went that way, but the contract fixes the direction: at
    position 1 the pair (1, 0) becomes (cos 1, sin 1). Look at the two signs of the sine.
    """
    cosine, sine = angles.cos(), angles.sin()
    return first * cosine + second * sine, second * cosine - first * sine


@mistake(replaces="turn", dimension="numerics")
def both_signs_are_plus(first: Tensor, second: Tensor, angles: Tensor) -> Pair:
    """Both your sines have a plus.

    Then the lengths of the pairs change, which a rotation never does. One of the two features gets its sine with a
    minus; check it with the pair (0, 1) and an angle of a quarter turn.
    """
    cosine, sine = angles.cos(), angles.sin()
    return first * cosine + second * sine, first * sine + second * cosine


@mistake(replaces="turn", dimension="numerics")
def second_feature_mirrored(first: Tensor, second: Tensor, angles: Tensor) -> Pair:
    """Your second feature is mirrored.

    You compute (a cos θ - b sin θ, a sin θ - b cos θ). Already at position 0, where nothing must change, the second
    feature of each pair changes its sign. Look at the signs of the two cosines.
    """
    cosine, sine = angles.cos(), angles.sin()
    return first * cosine - second * sine, first * sine - second * cosine


@mistake(replaces="turn", dimension="numerics")
def sine_and_cosine_swapped(first: Tensor, second: Tensor, angles: Tensor) -> Pair:
    """You have swapped sine and cosine.

    At position 0 all angles are 0 and nothing must change: which of the two is 1 there? In yours every pair is
    turned by a quarter, or mirrored, on top.
    """
    cosine, sine = angles.cos(), angles.sin()
    return first * sine - second * cosine, first * cosine + second * sine


@mistake(replaces="turn", dimension="numerics")
def uses_the_turned_feature_again(first: Tensor, second: Tensor, angles: Tensor) -> Pair:
    """You overwrite the first feature before the second is computed.

    The second feature of a pair needs the *old* first one; yours gets the turned one. Slices of a tensor are
    views: writing into it changes them too. Compute both, and then write.
    """
    cosine, sine = angles.cos(), angles.sin()
    first = first * cosine - second * sine
    return first, first * sine + second * cosine


@mistake(replaces="turn", dimension="numerics")
def second_feature_left_alone(first: Tensor, second: Tensor, angles: Tensor) -> Pair:
    """You turn the first feature of each pair and leave the second as it was.

    A rotation changes both coordinates of a point. Where is the line for the odd features, and is its result used?
    """
    return first * angles.cos() - second * angles.sin(), second


@mistake(replaces="turn", dimension="numerics")
def features_only_scaled(first: Tensor, second: Tensor, angles: Tensor) -> Pair:
    """You multiply each feature by a sine or cosine and stop there.

    Even features times the cosine, odd ones times the sine: the two of a pair never meet. In a rotation each new
    coordinate is made of both old ones.
    """
    return first * angles.cos(), second * angles.sin()


@mistake(replaces="positions", dimension="numerics")
def positions_from_one(x: Tensor, offset: int) -> Tensor:
    """Your positions start at 1.

    The first token stands at position `offset`, which is 0 by default, and at position 0 nothing is turned. All
    your tokens are turned one step too far.
    """
    return torch.arange(1, x.shape[-2] + 1, dtype=x.dtype)[:, None] + offset


@mistake(replaces="positions", dimension="numerics")
def offset_ignored(x: Tensor, offset: int) -> Tensor:
    """Your positions always start at 0, whatever the offset is.

    A token that is decoded alone would always be taken for the first of its sequence. Which position does token t
    have?
    """
    return torch.arange(x.shape[-2], dtype=x.dtype)[:, None]


@mistake(replaces="positions", dimension="numerics")
def offset_subtracted(x: Tensor, offset: int) -> Tensor:
    """You subtract the offset.

    The first token stands at position `offset`, behind those that came before; yours stands as far in front of
    them.
    """
    return torch.arange(x.shape[-2], dtype=x.dtype)[:, None] - offset


@mistake(replaces="positions", dimension="numerics")
def offset_multiplies(x: Tensor, offset: int) -> Tensor:
    """Your offset stretches the positions.

    Tokens stand one position apart, wherever the first one stands. Yours are further apart, the larger the offset.
    """
    return torch.arange(x.shape[-2], dtype=x.dtype)[:, None] * (1 + offset) + offset


@mistake(replaces="positions", dimension="numerics")
def same_position_for_all(x: Tensor, offset: int) -> Tensor:
    """All your tokens stand at the position of the first.

    Position `offset` is that of the first token alone; the others follow, one each. Scores between tokens that are
    all turned alike know nothing of their distance.
    """
    return torch.full((x.shape[-2], 1), float(offset), dtype=x.dtype)


@mistake(replaces="positions", dimension="numerics")
def turned_along_the_heads(x: Tensor, offset: int) -> Tensor:
    """You take the heads for the tokens.

    All tokens of your head 0 are turned by the angles of position 0, all of head 1 by those of position 1. x is
    (batch, heads, time, dim): look at the size from which you count the positions, and at how the table is
    broadcast.
    """
    return torch.arange(x.shape[1], dtype=x.dtype)[:, None, None] + offset


@mistake(replaces="positions", dimension="numerics")
def turned_along_the_batch(x: Tensor, offset: int) -> Tensor:
    """You take the sequences of the batch for the tokens.

    All tokens of your first sequence are turned as position 0 is, all of the second as position 1. x is (batch,
    heads, time, dim): look at the size from which you count the positions, and at how the table is broadcast.
    """
    return torch.arange(x.shape[0], dtype=x.dtype)[:, None, None, None] + offset


@mistake(replaces="positions", dimension="numerics")
def positions_between_zero_and_one(x: Tensor, offset: int) -> Tensor:
    """You divide the positions by the length of the sequence.

    Then two tokens that stand side by side are turned against each other by less, the longer the sequence is. Positions
    are whole numbers.
    """
    return (torch.arange(x.shape[-2], dtype=x.dtype)[:, None] + offset) / x.shape[-2]


@mistake(replaces="positions", dimension="numerics")
def positions_count_backwards(x: Tensor, offset: int) -> Tensor:
    """Your positions run backwards.

    The last token gets the first position. Positions grow from left to right, beginning with `offset`.
    """
    return torch.arange(x.shape[-2] - 1, -1, -1, dtype=x.dtype)[:, None] + offset


@mistake(replaces="angles", dimension="numerics")
def angles_in_degrees(positions: Tensor, frequencies: Tensor) -> Tensor:
    """You turn the angles from degrees into radians.

    Position times frequency is the angle, and it is in radians already, which is what sine and cosine take.
    """
    return torch.deg2rad(positions * frequencies)


@mistake(replaces="angles", dimension="numerics")
def angles_made_degrees(positions: Tensor, frequencies: Tensor) -> Tensor:
    """You turn the angles from radians into degrees.

    Position times frequency is an angle in radians. PyTorch's sine and cosine take radians, so there is nothing to
    convert.
    """
    return torch.rad2deg(positions * frequencies)


@mistake(replaces="angles", dimension="numerics")
def whole_turns(positions: Tensor, frequencies: Tensor) -> Tensor:
    """You multiply the angles by 2π.

    Position times frequency is the angle itself, in radians; it does not count turns. With a frequency of 1 your
    first pair comes back to where it was at every position.
    """
    return 2 * math.pi * positions * frequencies


@mistake(replaces="frequencies", dimension="numerics")
def base_ignored(exponents: Tensor, base: float) -> Tensor:
    """You always compute with base 10,000.

    `base` is an argument; models with long contexts use larger ones. Look for a number where the name should
    stand.
    """
    return 10000.0**exponents


@mistake(replaces="frequencies", dimension="numerics")
def default_base_1000(exponents: Tensor, base: float) -> Tensor:
    """Your base is 1,000 where it should be 10,000.

    When no base is given, the first pair comes out right, since its exponent is 0, and every later one turns too fast.
    Count the zeros of your default.
    """
    return (1000.0 if base == 10000.0 else base) ** exponents


@mistake(replaces="frequencies", dimension="numerics")
def one_frequency_for_all(exponents: Tensor, base: float) -> Tensor:
    """All your pairs turn equally fast.

    The exponent comes out as 0 everywhere, as it does when 2i/d is a division of integers (`//`), or when it is
    left out. Print your frequencies; they should fall from 1 towards 1/base.
    """
    return torch.ones_like(exponents)


@mistake(replaces="frequencies", dimension="numerics")
def frequencies_grow(exponents: Tensor, base: float) -> Tensor:
    """Your frequencies grow from pair to pair; they should fall.

    You multiply the position by base^(2i/d) where the formula divides. If you work with exp and log, or with a
    power, look for a missing minus sign.
    """
    return base ** (-exponents)


@mistake(replaces="frequencies", dimension="numerics")
def frequencies_reversed(exponents: Tensor, base: float) -> Tensor:
    """Your frequencies stand in the opposite order.

    Pair 0 has to turn the fastest, by one radian a position, and the last pair the slowest.
    """
    return (base**exponents).flip(-1)


@mistake(replaces="frequencies", dimension="numerics")
def decimal_logarithm(exponents: Tensor, base: float) -> Tensor:
    """You take a logarithm to base 10 where exp needs the natural one.

    exp(-2i/d · log10(base)) is not base^(-2i/d): your later pairs turn too fast. exp and log must have the same
    base.
    """
    return torch.exp(exponents * math.log10(base))


@mistake(replaces="exponents", dimension="numerics")
def exponent_doubled(x: Tensor) -> Tensor:
    """Your exponents are twice as large as they should be.

    Stepping through the even features 0, 2, 4, … already gives 2i; times 2 once more it is 4i, and the same comes
    out if you divide 2i by the number of pairs, d/2. Look at what your index counts, and at what you divide by.
    """
    return -2 * torch.arange(0, x.shape[-1], 2, dtype=x.dtype) / x.shape[-1]


@mistake(replaces="exponents", dimension="numerics")
def exponent_halved(x: Tensor) -> Tensor:
    """Your exponents are half as large as they should be.

    You count pairs, i = 0, 1, 2, …, and use i/d where the formula has 2i/d. Your frequencies fall too slowly.
    """
    return -torch.arange(x.shape[-1] // 2, dtype=x.dtype) / x.shape[-1]


@mistake(replaces="exponents", dimension="numerics")
def exponent_from_two(x: Tensor) -> Tensor:
    """You count the pairs from 1.

    Your exponents begin with 2/d. The formula's i begins with 0: pair 0 turns by one whole radian a position.
    """
    return -torch.arange(2, x.shape[-1] + 1, 2, dtype=x.dtype) / x.shape[-1]


@mistake(replaces="exponents", dimension="numerics")
def spread_up_to_the_last_pair(x: Tensor) -> Tensor:
    """You spread the exponents from 0 to 1 with both ends included.

    Your last pair has the frequency 1/base. In the formula the last exponent is (d - 2)/d, which stops one step
    before 1. Look at the denominator of your exponent.
    """
    pairs = x.shape[-1] // 2
    return -torch.arange(pairs, dtype=x.dtype) / max(pairs - 1, 1)


@mistake(replaces="apply_rotary", dimension="numerics")
def each_feature_has_its_own_angle(x: Tensor, base: float = 10000.0, offset: int = 0) -> Tensor:
    """Each of your features has an angle of its own.

    Feature j has the exponent j/d. But the two features of a pair share one angle; with two it is no rotation. There
    are d/2 angles, for i = 0 … d/2 - 1, and each is used for features 2i and 2i + 1.
    """
    exponents = -torch.arange(x.shape[-1], dtype=x.dtype) / x.shape[-1]
    angles = (torch.arange(x.shape[-2], dtype=x.dtype)[:, None] + offset) * base**exponents
    other = torch.stack((-x[..., 1::2], x[..., 0::2]), dim=-1).flatten(-2)
    return x * angles.cos() + other * angles.sin()


@mistake(replaces="merge", dimension="shapes")
def pairs_left_apart(first: Tensor, second: Tensor) -> Tensor:
    """You return the pairs on an axis of their own.

    Your result has one axis too many, (…, d/2, 2). It has to have the shape of x again.
    """
    return torch.stack((first, second), dim=-1)


@mistake(replaces="merge", dimension="shapes")
def heads_behind_time(first: Tensor, second: Tensor) -> Tensor:
    """You return time before heads.

    x comes as (batch, heads, time, dim), and the result goes in the same order. Look for a transpose that is not
    taken back.
    """
    return torch.stack((first, second), dim=-1).flatten(-2).transpose(1, 2)


@mistake(replaces="merge", dimension="gradients")
def result_cut_off(first: Tensor, second: Tensor) -> Tensor:
    """No gradient flows back through your rotation.

    The numbers are right, but the projections behind x could never be trained. Look for `detach()`, `.data`,
    `no_grad`, NumPy, or a new tensor made from the turned features.
    """
    return torch.stack((first, second), dim=-1).flatten(-2).detach()


@mistake(replaces="split", dimension="gradients")
def second_features_cut_off(x: Tensor) -> Pair:
    """No gradient reaches the second features of your pairs.

    The numbers are right, but half of x gets no gradient through them. Look for `detach()` or `.data` where the
    odd features are taken.
    """
    return x[..., 0::2], x[..., 1::2].detach()


@mistake(replaces="merge", dimension="numerics")
def pairs_put_back_swapped(first: Tensor, second: Tensor) -> Tensor:
    """The two numbers of each pair have changed places.

    What is made of a with the cosine goes back to where a was, and the other one to where b was. Check the order in
    which you stack the two.
    """
    return torch.stack((second, first), dim=-1).flatten(-2)


@mistake(replaces="rotate", dimension="numerics")
def partners_from_the_halves(x: Tensor, angles: Tensor) -> Tensor:
    """You take partners from the halves, and lay them out for neighbours.

    There are two customs, neighbours (0, 1) and halves (0, d/2), and your code is made of both. The partner of feature
    0 is feature 1 here: `x[..., 0::2]` and `x[..., 1::2]`.
    """
    half = x.shape[-1] // 2
    partners = torch.stack((-x[..., half:], x[..., :half]), dim=-1).flatten(-2)
    wide = angles.repeat_interleave(2, dim=-1)
    return (x * wide.cos() + partners * wide.sin()).to(x.dtype)
