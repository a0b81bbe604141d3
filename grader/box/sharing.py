"""Lists the places where a weight may lie together with others: in a fused projection, whatever the order of its axes.

`weights` knows the usual order, `phd`: parts, in each its heads, in each its features. GPT-NeoX and BLOOM have the
parts inside of the heads, others the heads last. Along the inputs, one matrix may hold what two inputs go through that
are added (additive attention).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
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
        self._regular = cache(_regular)

    def of(self, weight: Weight, within: Collection[str] = ()) -> Iterator[Option]:
        """Yield the layouts of a parameter that holds `weight` together with others; `within` is what `Lister` has."""
        allowed = [p for p in self._parameters if not within or p.path in within]
        for members in self.orders(weight, turned=not within):
            for p in allowed:
                yield from self.fused(weight, members, p)

    def orders(self, weight: Weight, *, turned: bool) -> Iterator[Sequence[Weight]]:
        """Yield which weights may share a place with `weight`, in which order: the contract's, or any that there is."""
        for count in (3, 2, 4):
            for members in combinations(self._projections, count):
                if any(weight is member for member in members):
                    free = turned and count < 4 and not any(member.ordered for member in members)
                    yield from permutations(members) if free else [members]

    def groups(self, members: Sequence[Weight]) -> int:
        """Return how many blocks there are in each of which all of `members` have a part: heads, or groups of them."""
        return self._heads if len(members) > 3 else min(member.heads for member in members)

    def fused(self, weight: Weight, members: Sequence[Weight], p: Parameter) -> Iterator[Option]:
        """Yield the layouts of a parameter that holds all of `members`, in this order."""
        if p.tensor.numel() != sum(member.matrix.numel() for member in members):
            return
        names = tuple(member.name for member in members)
        usual = names == tuple(other.name for other in self._projections if other.name in names)
        (size_in, size_out), part, groups = weight.matrix.shape, names.index(weight.name), self.groups(members)
        alike = all(member.matrix.shape == weight.matrix.shape for member in members)
        regular: Iterable[Option] = ()
        if alike and size_out % groups == 0:
            regular = self._regular(groups, (size_in, size_out), (part, len(members)), p)
        elif not alike:
            regular = _grouped(weight, members, groups, p)
        stacked = _stacked(weight, members, groups, p) if alike and p.owner == "plain" else ()
        for option in (*_side_by_side(weight, members, p), *regular, *stacked):
            rarity = option.rarity if usual else option.rarity + 1.0
            yield replace(option, family=">".join(names), part=part, parts=len(names), rarity=rarity)


def _regular(heads: int, sizes: tuple[int, int], place: tuple[int, int], p: Parameter) -> list[Option]:
    """Return the orders of parts, heads and features of a projection whose parts are alike."""
    (size_in, size_out), (part, count) = sizes, place
    found = []
    for shape, turned in _sides(p, size_in, count * size_out):
        for rank, order in enumerate(_ORDERS):
            vector = _regular_blocks(order, {"p": count, "h": heads, "d": size_out // heads}, part)
            layout, rarity = f"{order}{turned:d}", 0.3 + 0.1 * rank
            found.append(_laid_out(p, (shape, turned), vector, Option((), (p.path,), layout, rarity, 0, vector)))
    return found


def _grouped(weight: Weight, members: Sequence[Weight], groups: int, p: Parameter) -> Iterator[Option]:
    """Yield the layouts in which parts of unequal widths follow each other in each group, as in Falcon and Megatron."""
    size_in, size_out = weight.matrix.shape
    fits = (m.matrix.shape[0] == size_in and m.matrix.shape[1] % groups == 0 for m in members)
    if groups < 2 or not all(fits):
        return
    widths = [member.matrix.shape[1] // groups for member in members]
    part, block = members.index(weight), sum(widths)
    vector = _grouped_blocks(range(sum(widths[:part]), block * groups, block), size_out // groups, part + 1)
    for shape, turned in _sides(p, size_in, block * groups):
        yield _laid_out(p, (shape, turned), vector, Option((), (p.path,), f"hpd{turned:d}", 0.3, 0, vector))


def _laid_out(p: Parameter, side: tuple[tuple[int, ...], bool], vector: Vector, option: Option) -> Option:
    """Return `option` with the pieces of a matrix, and those of a bias, which lies like one column of it."""
    shape, turned = side
    pieces = tuple(_through(piece, shape, turned=turned) for piece in vector([(p.path, p.tensor)]))
    total = shape[1] if turned else shape[0]
    return replace(option, pieces=pieces, total=total, vector=_flat(vector))


def _flat(vector: Vector) -> Vector:
    return lambda found: tuple(replace(piece, view=layouts.flat(piece.view)) for piece in vector(found))


def _grouped_blocks(starts: Sequence[int], width: int, part: int) -> Vector:
    """Return the pieces of one part of a fused axis: one for each group, from `starts` on."""
    note = f"part {part} in each group"
    return lambda found: tuple(
        Piece(*found[0], layouts.span(start, width), number * width, (number + 1) * width, note)
        for number, start in enumerate(starts)
    )


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


def _stacked(weight: Weight, members: Sequence[Weight], heads: int, p: Parameter) -> Iterator[Option]:
    """Yield the layouts of a stack: (parts, in, out), (parts, out, in), or (parts, heads, in, out / heads)."""
    size_in, size_out = weight.matrix.shape
    part, count = members.index(weight), len(members)
    vector, total, note = _slice(part * size_out, size_out), count * size_out, f"part {part + 1} of {count}"
    for wanted, turn in (((count, size_in, size_out), False), ((count, size_out, size_in), True)):
        if wanted in p.shapes(3):
            view = layouts.squeezed(head_of(part, turn=turn), wanted)
            piece = Piece(p.path, p.tensor, view, 0, size_out, note)
            yield Option((piece,), (p.path,), f"stack{turn:d}", 0.2 + 0.3 * turn, total, vector)
    width = size_out // heads
    if heads > 1 and tuple(p.tensor.shape) == (count, heads, size_in, width):
        views = [layouts.within(part, layouts.head(i)) for i in range(heads)]
        pieces = tuple(Piece(p.path, p.tensor, view, i * width, (i + 1) * width, note) for i, view in enumerate(views))
        yield Option(pieces, (p.path,), "stackh", 0.2, total, vector)
