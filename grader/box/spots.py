"""A place where a weight may lie, and what is known of it by shape alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, pairwise
from math import prod

from torch import Tensor

from grader.box import layouts
from grader.box.layouts import Piece, View

BY_HEADS = "heads "  # begins the name of a layout in which each head has several weights in a place of its own

Vector = Callable[[Sequence[tuple[str, Tensor]]], tuple[Piece, ...]]  # the pieces of a bias that goes with a matrix


@dataclass(frozen=True, slots=True, eq=False)
class Option:
    """One place where a weight may lie.

    Attributes:
        pieces: what is written and read there.
        claim: the paths that it takes, and how: two options may share them if `family` is one and `part` is not.
        layout: it in one word, the same in constructions of other sizes.
        rarity: how unusual the layout is; usual ones are tried first.
        total: the length of a bias beside each of `paths`, and `vector` its pieces.
        parts: how many weights share the paths.
        added: the results of its paths are added up, and so are their biases.
    """

    pieces: tuple[Piece, ...]
    paths: tuple[str, ...]
    layout: str
    rarity: float
    total: int
    vector: Vector
    family: str = ""
    part: int = 0
    parts: int = 1
    added: bool = False

    @property
    def key(self) -> str:
        """Return its place in words that mean the same in constructions of other sizes."""
        path = self.paths[0] if len(self.paths) == 1 else layouts.pattern(self.paths[0])
        return f"{path}|{self.layout}|{self.family}|{self.part}"

    @property
    def keys_by_heads(self) -> tuple[str, ...]:
        """Return the keys that the same place has where there are several heads, each with a matrix of its own."""
        names = (f"{BY_HEADS}{self.layout}", *(("stackh",) if self.layout == "stack0" else ()))
        return tuple(f"{layouts.pattern(self.paths[0])}|{name}|{self.family}|{self.part}" for name in names)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter as (out, in) or (in, out): without the axes of length one that a convolution or a batch add."""

    path: str
    tensor: Tensor
    owner: str  # linear, conv, or plain

    def shapes(self, axes: int) -> tuple[tuple[int, ...], ...]:
        """Return its shape with `axes` axes: as it is, without axes of length one, or with neighbours joined."""
        shape = tuple(self.tensor.shape)
        joined = _joined(shape, axes) if self.owner == "plain" and self.tensor.is_contiguous() else ()
        return tuple(dict.fromkeys((*_squeezed(shape, axes, self.owner), *joined)))


def whole(size: int) -> Vector:
    """Return how a bias lies that belongs to one weight: in one vector, or in equal blocks."""
    return lambda found: layouts.bias_blocks(size, list(found))


def head_of(index: int, *, turn: bool) -> View:
    """Show one matrix of a stack, turned round or as it lies."""
    return lambda parameter: parameter[index].T if turn else parameter[index]


@lru_cache(maxsize=4096)
def _squeezed(shape: tuple[int, ...], axes: int, owner: str) -> list[tuple[int, ...]]:
    found = [shape] if len(shape) == axes else []
    ones = [i for i, size in enumerate(shape) if size == 1]
    if len(shape) > axes and len(shape) - axes <= len(ones):
        leading, trailing = ones[: len(shape) - axes], ones[len(ones) - len(shape) + axes :]
        for gone in dict.fromkeys((tuple(trailing), tuple(leading))):
            if owner != "conv" or gone[0] >= axes:
                found.append(tuple(size for i, size in enumerate(shape) if i not in gone))
    return found


@lru_cache(maxsize=4096)
def _joined(shape: tuple[int, ...], axes: int) -> list[tuple[int, ...]]:
    """Return a shape with neighbouring axes taken as one; a vector is not made of a matrix."""
    if not len(shape) > axes > 1:
        return []
    cuts = (pairwise((0, *inner, len(shape))) for inner in combinations(range(1, len(shape)), axes - 1))
    return [tuple(prod(shape[start:stop]) for start, stop in pairs) for pairs in cuts]
