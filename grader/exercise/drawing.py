"""Draws numbers from a seed and a name, and finds the sizes of axes."""

from __future__ import annotations

import hashlib
import math
from functools import cache

import torch
from torch import Tensor

from grader.box.kinds import Scalar
from grader.errors import AuthorError
from grader.exercise.spec import CaseSpec, PartSpec, Sizes


def generator(seed: int, name: str) -> torch.Generator:
    """Return a generator for `name` under `seed`; different names draw independently."""
    made = torch.Generator()
    made.manual_seed(_digest(f"{seed}/{name}"))
    return made


def _digest(key: str) -> int:
    digest = hashlib.blake2b(key.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1


def normal(shape: tuple[int, ...], draw: torch.Generator) -> Tensor:
    """Return standard normal numbers in float64."""
    return torch.randn(shape, generator=draw, dtype=torch.float64)


def shape_of(axes: tuple[str, ...], sizes: Sizes) -> tuple[int, ...]:
    """Return the sizes of `axes`: names, numbers, sums of products of them, or `...` for leading axes."""
    shape: list[int] = []
    for axis in axes:
        if axis == "...":
            leading = sizes.get("...", [])
            shape += leading if isinstance(leading, list) else [leading]
        elif type(size := sizes.get(axis)) is int:  # a plain name, as nearly all are
            shape.append(size)
        else:
            shape.append(sum(math.prod([size_of(name, sizes) for name in term]) for term in _terms(axis)))
    return tuple(shape)


@cache
def _terms(axis: str) -> tuple[tuple[str, ...], ...]:
    """Return the names of the factors in each term of a sum."""
    return tuple(tuple(name.strip() for name in term.split("*")) for term in axis.split("+"))


def size_of(name: str, sizes: Sizes) -> int:
    """Return the size of one axis.

    Raises:
        AuthorError: the case gives it none.
    """
    size = int(name) if name.isdigit() else sizes.get(name)
    if not isinstance(size, int):
        raise AuthorError(f"axis `{name}` has no size; give it one number in the case's `sizes`")
    return size


def settled(case: CaseSpec, part: PartSpec, seed: int) -> CaseSpec:
    """Return `case` with all that its `draw` leaves to `seed`.

    A name of the call's arguments becomes one, a number any other size, and the rest arguments of the constructor.

    Example: `draw = { heads = "2..4", width = "1..3", d_out = "heads*width", causal = [true, false] }`.

    Raises:
        AuthorError: an expression has a name that is not drawn before it.
    """
    if not case.draw:
        return case
    scalars = set(part.entry.arguments) - set(part.inputs)  # an axis may be called like a tensor
    sizes: Sizes = dict(case.sizes)
    given: dict[str, Scalar] = {}
    for name, asked in case.draw.items():
        key = f"{seed}/{case.name}/{name}"
        if name == "...":
            sizes[name] = [_within(str(one), sizes, f"{key}/{place}") for place, one in enumerate(asked)]
            continue
        value = _within(asked, sizes, key) if isinstance(asked, str) else asked[_digest(key) % len(asked)]
        if type(value) is int:  # what comes after it may name it, whatever else it is
            sizes[name] = value
        if type(value) is not int or name in scalars:
            given[name] = value
    called = {name: value for name, value in given.items() if name in scalars}
    built = {name: value for name, value in given.items() if name not in called}
    changes = {
        "sizes": sizes,
        "draw": {},
        "arguments": {**case.arguments, **called},
        "constructor": {**case.constructor, **built},
    }
    return case.model_copy(update=changes)


def _within(asked: str, sizes: Sizes, key: str) -> int:
    """Return the whole number from `a` to `b` that `key` gives for `"a..b"`; of one expression its value."""
    low, _, high = asked.partition("..")
    (least,) = shape_of((low.strip(),), sizes)
    (most,) = shape_of((high.strip(),), sizes) if high else (least,)
    if most < least:
        raise AuthorError(f"`draw` asks for `{asked}`, which is {least}..{most} here; the first one must be the lower")
    return least + _digest(key) % (most - least + 1)
