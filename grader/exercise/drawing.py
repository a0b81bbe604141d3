"""Draws numbers from a seed and a name, and finds the sizes of axes."""

from __future__ import annotations

import hashlib
import math
from functools import cache

import torch
from torch import Tensor

from grader.errors import AuthorError
from grader.exercise.spec import Sizes


def generator(seed: int, name: str) -> torch.Generator:
    """Return a generator for `name` under `seed`; different names draw independently."""
    digest = hashlib.blake2b(f"{seed}/{name}".encode(), digest_size=8).digest()
    made = torch.Generator()
    made.manual_seed(int.from_bytes(digest, "little") >> 1)
    return made


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
