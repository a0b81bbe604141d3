"""Lists the places where a weight may lie together with others: in a fused projection, whatever the order of its axes.

`weights` knows the usual order, `phd`: parts, in each its heads, in each its features. GPT-NeoX and BLOOM have the
parts inside of the heads, others the heads last. Along the inputs, one matrix may hold what two inputs go through that
are added (additive attention).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import combinations, permutations

from torch import Tensor

from grader.box import layouts
from grader.box.layouts import Piece, View
from grader.box.plan import Weight
from grader.box.spots import Option, Parameter, Vector, head_of, whole

_ORDERS = ("hpd", "dph", "pdh", "hdp", "dhp")  # of parts, heads and features; `phd` comes first, where it is listed


class Sharer:
    """Lists shared places for the projections of one part of a module."""

    def __init__(self, parameters: Sequence[Parameter], projections: Sequence[Weight], heads: int) -> None:
        self._parameters, self._projections, self._heads = parameters, projections, heads
        # Which weights share a place changes nothing about where the first, second or third part of it lies.
        self._regular = cache(partial(_regular, heads))

    def of(self, weight: Weight, within: Collection[str] = ()) -> Iterator[Option]:
        """Yield the layouts of a parameter that holds `weight` together with others; `within` is what `Lister` has."""
        allowed = [p for p in self._parameters if not within or p.path in within]
        for members in self._orders(turned=not within):
            if any(weight is member for member in members):
                for p in allowed:
                    yield from self._fused(weight, members, p)

    def _orders(self, *, turned: bool) -> Iterator[Sequence[Weight]]:
        """Yield which weights may share a place, and in which order: the contract's, or any that there is."""
        for count in (3, 2, 4):
            for members in combinations(self._projections, count):
                yield from permutations(members) if turned and count < 4 else [members]

    def _fused(self, weight: Weight, members: Sequence[Weight], p: Parameter) -> Iterator[Option]:
        names = tuple(member.name for member in members)
        usual = names == tuple(other.name for other in self._projections if other.name in names)
        (size_in, size_out), part = weight.matrix.shape, names.index(weight.name)
        alike = all(member.matrix.shape == weight.matrix.shape for member in members) and size_out % self._heads == 0
        regular = self._regular((size_in, size_out), (part, len(members)), p) if alike else ()
        for option in (*_side_by_side(weight, members, p), *regular, *_stacked(weight, members, p)):
            rarity = option.rarity if usual else option.rarity + 1.0
            yield replace(option, family=">".join(names), part=part, parts=len(names), rarity=rarity)


def _regular(heads: int, sizes: tuple[int, int], place: tuple[int, int], p: Parameter) -> list[Option]:
    """Return the orders of parts, heads and features of a projection whose parts are alike."""
    (size_in, size_out), (part, count) = sizes, place
    found = []
    for shape, turned in _sides(p, size_in, count * size_out):
        for rank, order in enumerate(_ORDERS):
            vector = _regular_blocks(order, {"p": count, "h": heads, "d": size_out // heads}, part)
            pieces = tuple(_through(piece, shape, turned=turned) for piece in vector([(p.path, p.tensor)]))
            layout, rarity = f"{order}{turned:d}", 0.3 + 0.1 * rank
            found.append(Option(pieces, (p.path,), layout, rarity, count * size_out, vector))
    return found


def _sides(p: Parameter, size_in: int, total: int) -> Iterator[tuple[tuple[int, ...], bool]]:
    """Yield the shape of a parameter that maps `size_in` to `total`, and whether it is kept as (in, total)."""
    for shape in p.shapes(2):
        if shape == (total, size_in):
            yield shape, False
        if shape == (size_in, total) and p.owner == "plain":
            yield shape, True


def _through(piece: Piece, shape: tuple[int, ...], *, turned: bool) -> Piece:
    """Return a piece of (total, in), squeezed or turned round, for one that was made for a plain one."""
    view = layouts.flipped(piece.view) if turned else piece.view
    return replace(piece, view=layouts.squeezed(view, shape))


def _regular_blocks(order: str, sizes: dict[str, int], part: int) -> Vector:
    """Return the pieces of one part of a fused axis: one for each head."""
    shape = tuple(sizes[axis] for axis in order)

    def vector(found: Sequence[tuple[str, Tensor]]) -> tuple[Piece, ...]:
        (path, parameter), width = found[0], sizes["d"]
        pieces = []
        for head in range(sizes["h"]):
            index = tuple({"p": part, "h": head, "d": None}[axis] for axis in order)
            note = f"part {part + 1} of {sizes['p']} in each head"
            pieces.append(Piece(path, parameter, layouts.axes(shape, index), head * width, (head + 1) * width, note))
        return tuple(pieces)

    return vector


def _side_by_side(weight: Weight, members: Sequence[Weight], p: Parameter) -> Iterator[Option]:
    """Yield the layouts in which one part follows the other, along the outputs or along the inputs."""
    size_in, size_out = weight.matrix.shape
    before, note = members[: members.index(weight)], f"part {members.index(weight) + 1} of {len(members)}"
    if all(member.matrix.shape[0] == size_in for member in members):
        total, start = sum(m.matrix.shape[1] for m in members), sum(m.matrix.shape[1] for m in before)
        for shape, turned in _sides(p, size_in, total):
            view = layouts.columns(start, size_out) if turned else layouts.rows(start, size_out)
            piece = Piece(p.path, p.tensor, layouts.squeezed(view, shape), 0, size_out, note)
            yield Option((piece,), (p.path,), f"phd{turned:d}", 0.2, total, _slice(start, size_out))
    if all(member.matrix.shape[1] == size_out and member.bias is None for member in members):
        total, start = sum(m.matrix.shape[0] for m in members), sum(m.matrix.shape[0] for m in before)
        stop = start + size_in
        for shape, turned in _sides(p, total, size_out):
            cut = _rows_of(start, stop, turned=turned)
            piece = Piece(p.path, p.tensor, layouts.squeezed(cut, shape), 0, size_out, note)
            yield Option((piece,), (p.path,), f"inputs{turned:d}", 0.5, size_out, whole(size_out))


def _rows_of(start: int, stop: int, *, turned: bool) -> View:
    return lambda parameter: parameter[start:stop] if turned else parameter[:, start:stop].T


def _slice(start: int, count: int) -> Vector:
    return lambda found: (Piece(found[0][0], found[0][1], layouts.entries(start, count), 0, count),)


def _stacked(weight: Weight, members: Sequence[Weight], p: Parameter) -> Iterator[Option]:
    """Yield the layouts of a stack: (parts, in, out), (parts, out, in)."""
    size_in, size_out = weight.matrix.shape
    if p.owner != "plain" or any(member.matrix.shape != weight.matrix.shape for member in members):
        return
    part, count = members.index(weight), len(members)
    for wanted, turn in (((count, size_in, size_out), False), ((count, size_out, size_in), True)):
        if wanted in p.shapes(3):
            view = layouts.squeezed(head_of(part, turn=turn), wanted)
            piece = Piece(p.path, p.tensor, view, 0, size_out, f"part {part + 1} of {count}")
            yield Option(
                (piece,),
                (p.path,),
                f"stack{turn:d}",
                0.2 + 0.3 * turn,
                count * size_out,
                _slice(part * size_out, size_out),
            )
