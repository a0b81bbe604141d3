"""Every way in which parameters may hold a weight, by shape alone: the one list of layouts.

A layout comes down to pieces: views of parameters that show some columns, or rows, of the canonical matrix (in, out).
The same view that the weight is written through reads its gradient.

Notation: the axes of a parameter in their order, each a letter, or several that lie in one axis.

    i  the inputs of the weight, or w those of one head
    o  the outputs of the weight, or d those of one head, or v the only one
    h  the heads, or groups of heads; H on an axis of their own
    p  the weights that share the parameter, alike in shape
    r  the outputs of all of them, one weight's after another's; g the same in one head
    s  the inputs of all of them, one weight's after another's

So `nn.Linear` is (o, i), a usual `qkv` is (r, i), and one with the heads innermost is (dph, i).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import combinations, pairwise, permutations
from math import prod
from typing import NamedTuple

from torch import Tensor

from grader.box.binding.names import without_heads
from grader.box.plan import Holding

_OUTPUTS, _INPUTS = "ovdhHprg", ("i", "w", "s")


class ContractWeight(NamedTuple):
    """A weight of the contract without its numbers; see `plan.Weight`.

    `name` is that in its part of the module, `full_name` with the part before it.
    """

    name: str
    full_name: str
    shape: tuple[int, ...]
    biased: bool
    heads: int
    holding: Holding
    either: bool
    ordered: bool
    biased_by: str


class Parameter(NamedTuple):
    """A parameter of a module without its numbers.

    `owner` is `linear`, `conv`, `table` or `plain`; `first` the first path of the same parameter; neighbouring axes of
    one that `joins` can be seen as one axis.
    """

    path: str
    shape: tuple[int, ...]
    owner: str
    joins: bool
    first: str

    @property
    def is_layer(self) -> bool:
        """Whether it is kept as torch's layers keep it, (out, in)."""
        return self.owner in ("linear", "conv")


@lru_cache(maxsize=4096)
def shapes_of(parameter: Parameter, axes: int) -> tuple[tuple[int, ...], ...]:
    """Return its shapes with `axes` axes: as it is, without axes of length one, or with neighbours joined."""
    shape = parameter.shape
    alike = [shape] if len(shape) == axes else []
    ones = [i for i, size in enumerate(shape) if size == 1]
    spare = len(shape) - axes
    if 0 < spare <= len(ones):  # the axes of length one that a convolution or a batch add
        for gone in (ones[-spare:], ones[:spare]):
            if parameter.owner != "conv" or gone[0] >= axes:
                alike.append(tuple(size for i, size in enumerate(shape) if i not in gone))
    if spare > 0 and axes > 1 and parameter.joins:  # a vector is not made of a matrix
        for inner in combinations(range(1, len(shape)), axes - 1):
            alike.append(tuple(prod(shape[start:stop]) for start, stop in pairwise((0, *inner, len(shape)))))
    return tuple(alike)


@dataclass(frozen=True, slots=True)
class Piece:
    """Some columns of a canonical tensor, all its rows or some, as a view of one parameter."""

    path: str
    view: Callable[[Tensor], Tensor]
    columns: slice
    rows: slice | None = None
    note: str = ""

    def of(self, canonical: Tensor) -> Tensor:
        """Return the part of a canonical tensor that this is."""
        columns = canonical[..., self.columns]
        return columns if self.rows is None else columns[self.rows]


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """One way in which a weight may lie in a parameter, or in one parameter for each head.

    Attributes:
        paths: of the parameter, or of those of the heads in their order.
        kind: it in one word, the same in constructions of other sizes.
        rarity: how unusual it is; usual ones are tried first.
        axes: the letters of a parameter's axes, and `sizes` how long each is.
        own: what is the weight's of the axes that it shares.
        columns: of the weight.
        is_exact: whether the parameters have these axes, none of length one besides, and none further ones in them.
        members: the weights that share the parameters, in their order; empty where it shares them with none.
        part: which of them this one is.
    """

    paths: tuple[str, ...]
    kind: str
    rarity: float
    axes: str
    sizes: Mapping[str, int]
    own: Mapping[str, int | slice]
    columns: int
    is_exact: bool = True
    note: str = ""
    members: tuple[str, ...] = ()
    part: int = 0

    @property
    def key(self) -> str:
        """Return it in words that mean the same in constructions of other sizes."""
        return self._key(self.kind, by_head=len(self.paths) > 1)

    @property
    def keys_by_heads(self) -> tuple[str, ...]:
        """Return the keys that the same layout has where there are several heads, each with a matrix of its own."""
        kinds = (f"heads {self.kind}", *(("stackh",) if self.kind == "stack0" else ()))
        return tuple(self._key(kind, by_head=True) for kind in kinds)

    def _key(self, kind: str, *, by_head: bool) -> str:
        path = without_heads(self.paths[0]) if by_head else self.paths[0]
        return f"{path}|{kind}|{'>'.join(self.members)}|{self.part}"

    @property
    def is_added(self) -> bool:
        """Whether the results of its parameters are added up, and so are their biases: each has some of the rows."""
        return "w" in self.axes

    @property
    def bias_size(self) -> int:
        """Return how long a bias is that belongs to all that lies here."""
        return (1 if self.is_added else len(self.paths)) * self._length(self._bias_axes)

    def doubted(self, doubt: float) -> Layout:
        """Return the same layout as more unusual."""
        return replace(self, rarity=self.rarity + doubt) if doubt else self

    def pieces(self) -> tuple[Piece, ...]:
        """Return the pieces of the matrix."""
        return self._pieces(self.paths, self.axes, self.note)

    def bias_pieces(self, biases: Sequence[Parameter]) -> tuple[Piece, ...]:
        """Return the pieces of a bias, which lies as the outputs do: in one vector, or in one for each head."""
        axes = self._bias_axes
        if len(biases) < len(self.paths) and not self.is_added:
            axes = f"h{axes}"
        if any(prod(bias.shape) != self._length(axes) for bias in biases):
            return bias_blocks(self.columns, biases)  # of a layer that maps the other way round, for one
        return self._pieces(tuple(bias.path for bias in biases), axes, self.note if " in each " in self.note else "")

    @property
    def _bias_axes(self) -> str:
        return "".join(axis for axis in self.axes if axis in _OUTPUTS)

    def _length(self, axes: str) -> int:
        return prod(self.sizes[axis] for axis in axes)

    def _pieces(self, paths: tuple[str, ...], axes: str, note: str) -> tuple[Piece, ...]:
        heads = self.sizes["h"] if "h" in axes.lower() else len(paths)
        shape = tuple(self.sizes[axis] for axis in axes)
        is_cut = any(axis in "hH" or axis in self.own for axis in axes)
        turned = len(axes) > 1 and axes[-1] in _INPUTS  # (out, in) after what is shared was taken out
        block = self.columns // heads
        pieces = []
        for head in range(heads):
            index = [head if axis in "hH" else self.own.get(axis, slice(None)) for axis in axes] if is_cut else []
            view = partial(_view, shape=shape, index=tuple(index), turned=turned)
            path, told = paths[head % len(paths)], note.replace("{head}", str(head))
            if "w" in axes:
                pieces.append(Piece(path, view, slice(None), _block(head, self.sizes["w"]), told))
            else:
                pieces.append(Piece(path, view, _block(head, block), None, told))
        return tuple(pieces)


def _block(number: int, size: int) -> slice:
    return slice(number * size, (number + 1) * size)


def _view(parameter: Tensor, *, shape: tuple[int, ...], index: tuple[int | slice, ...], turned: bool) -> Tensor:
    whole = parameter if parameter.shape == shape else parameter.reshape(shape)
    part = whole[index] if index else whole
    return part.T if turned else part


def bias_blocks(columns: int, biases: Sequence[Parameter], start: int | None = None) -> tuple[Piece, ...]:
    """Return the pieces of a bias that is kept in equal blocks, one per head, or from `start` of a longer vector on."""
    width = columns // len(biases)
    index = () if start is None else (slice(start, start + columns),)
    return tuple(
        Piece(bias.path, partial(_view, shape=(-1,), index=index, turned=False), _block(number, width))
        for number, bias in enumerate(biases)
    )


class _Form(NamedTuple):
    """A kind of layout: the axes of the parameters, and how unusual that is.

    `unless` names forms that show the same of the same parameter; `owners` are the only ones that have it, if given.
    """

    kind: str
    axes: tuple[str, ...]
    rarity: float
    note: str = ""
    unless: tuple[str, ...] = ()
    owners: tuple[str, ...] = ()

    def is_of(self, owner: str) -> bool:
        """Return whether a parameter of that owner may have it: layers keep their inputs last."""
        return owner in self.owners if self.owners else self.axes[-1] in _INPUTS or owner in ("plain", "table")


_PART = "part {part} of {count}"
_IN_EACH = "part {part} of {count} in each head"
_ALONE = (
    _Form("T", ("o", "i"), 0.0),
    _Form("N", ("i", "o"), 0.0),
    _Form("column", ("iv",), 0.1, unless=("T", "N")),
    _Form("hid", ("H", "i", "d"), 0.0, "head {head}"),
)
_OTHER_WAY_ROUND = _Form("flip", ("i", "o"), 0.2, "the other way round", owners=("linear", "conv"))
_ALONE_BY_HEAD = (
    _Form("T", ("d", "i"), 0.0),
    _Form("N", ("i", "d"), 0.0),
    _Form("column", ("iv",), 0.1, unless=("T", "N")),
    _Form("rows T", ("o", "w"), 0.0, "head {head}"),
    _Form("rows N", ("w", "o"), 0.0, "head {head}"),
)
# Parts lie inside of heads in GPT-NeoX and BLOOM, of groups of heads in Falcon and Megatron; others put heads last.
_IN_HEADS = ((0.3, "hg"), (0.4, "dph"), (0.5, "pdh"), (0.6, "hdp"), (0.7, "dhp"))
_SHARED = (
    _Form("phd0", ("r", "i"), 0.2, _PART),
    _Form("phd1", ("i", "r"), 0.2, _PART),
    _Form("inputs0", ("o", "s"), 0.5, _PART),
    _Form("inputs1", ("s", "o"), 0.5, _PART),
    *(_Form(f"{outputs}0", (outputs, "i"), rarity, _IN_EACH) for rarity, outputs in _IN_HEADS),
    *(_Form(f"{outputs}1", ("i", outputs), rarity, _IN_EACH) for rarity, outputs in _IN_HEADS),
    _Form("stack0", ("p", "i", "o"), 0.2, _PART),
    _Form("stackh", ("p", "H", "i", "d"), 0.2, _PART),
    _Form("heads phd1", ("H", "i", "g"), 0.2, _PART),
    _Form("heads dph1", ("H", "i", "dp"), 0.4, _IN_EACH),
    _Form("heads stack0", ("H", "p", "i", "d"), 0.2, _PART),
)
_SHARED_BY_HEAD = (
    _Form("heads phd0", ("g", "i"), 0.2, _PART),
    _Form("heads phd1", ("i", "g"), 0.2, _PART),
    _Form("heads dph0", ("dp", "i"), 0.4, _IN_EACH),
    _Form("heads dph1", ("i", "dp"), 0.4, _IN_EACH),
    _Form("heads stack0", ("p", "i", "d"), 0.2, _PART),
)


def layouts_of(
    spec: ContractWeight,
    members: Sequence[ContractWeight],
    parameters: Sequence[Parameter],
    specs: Sequence[ContractWeight],
) -> Iterator[Layout]:
    """Yield each way in which all of `members` lie in a parameter, or in one for each head, for the weight `spec`.

    Args:
        members: the weights that share the parameters, in their order; `spec` alone where it shares them with none.
        specs: all weights of this part of the module, which say how many heads one parameter has.
    """
    if sum(prod(p.shape) for p in parameters) != sum(prod(member.shape) for member in members):
        return
    by_head, shared, part = len(parameters) > 1, len(members) > 1, members.index(spec)
    forms = (_SHARED_BY_HEAD if by_head else _SHARED) if shared else _ALONE_BY_HEAD if by_head else _ALONE
    heads = len(parameters) if by_head else groups_of(members, specs)
    sizes, own = _extents(spec, members, heads, by_head=by_head)
    kinds: set[str] = set()
    for form in (*forms, _OTHER_WAY_ROUND) if spec.either else forms:
        if not sizes.keys() >= set("".join(form.axes)) or not kinds.isdisjoint(form.unless):
            continue
        shape = tuple(prod(sizes[letter] for letter in axis) for axis in form.axes)
        if not all(form.is_of(p.owner) and shape in shapes_of(p, len(shape)) for p in parameters):
            continue
        kinds.add(form.kind)
        in_doubt = form.kind == "T" and shape[0] == shape[1] and not parameters[0].is_layer
        note = form.note if "p" in sizes or form.note != _IN_EACH else "part {part} in each group"
        yield Layout(
            paths=tuple(p.path for p in parameters),
            kind=form.kind,
            rarity=0.4 if in_doubt else form.rarity,
            axes="".join(form.axes),
            sizes=sizes,
            own=own,
            columns=spec.shape[1],
            is_exact=all(p.shape == shape for p in parameters),
            note=note.replace("{part}", str(part + 1)).replace("{count}", str(len(members))),
            members=tuple(member.name for member in members) if shared else (),
            part=part,
        )


def _extents(
    spec: ContractWeight, members: Sequence[ContractWeight], heads: int, *, by_head: bool
) -> tuple[dict[str, int], dict[str, int | slice]]:
    """Return how long each axis is, of those that there can be, and what of it is the weight's own."""
    size_in, size_out = spec.shape
    sizes: dict[str, int] = {"i": size_in, "o": size_out, "h": heads}
    own: dict[str, int | slice] = {}
    ins, outs = ([member.shape[axis] for member in members] for axis in (0, 1))
    part, alike = members.index(spec), len({member.shape for member in members}) == 1
    in_heads = all(out % heads == 0 for out in outs)
    if in_heads:
        sizes["d"] = size_out // heads
    if in_heads and heads > 1:
        sizes["H"] = heads
    if (size_out // heads if by_head else size_out) == 1:
        sizes["v"] = 1
    if by_head and spec.heads == 1 and size_in % heads == 0:
        sizes["w"] = size_in // heads
    if alike:
        sizes["p"], own["p"] = len(members), part
    if set(ins) == {size_in}:
        before = sum(outs[:part])
        sizes["r"], own["r"] = sum(outs), slice(before, before + size_out)
        if in_heads and (alike or heads > 1):
            sizes["g"], own["g"] = sum(outs) // heads, slice(before // heads, (before + size_out) // heads)
    if set(outs) == {size_out} and not any(member.biased for member in members):
        before = sum(ins[:part])
        sizes["s"], own["s"] = sum(ins), slice(before, before + size_in)
    return sizes, own


def whole(spec: ContractWeight, parameter: Parameter, rarity: float = 0.0) -> Layout:
    """Return the layout of a parameter that is kept as it comes."""
    sizes = {str(axis): size for axis, size in enumerate(spec.shape)}
    return Layout((parameter.path,), "table", rarity, "".join(sizes), sizes, {}, spec.shape[-1])


def everywhere(
    spec: ContractWeight, specs: Sequence[ContractWeight], parameters: Sequence[Parameter]
) -> Iterator[Layout]:
    """Yield every layout of a weight in any of these parameters, alone or together with others of `specs`."""
    if spec.holding is Holding.TABLE:
        fitting = (p for p in parameters if not p.is_layer and spec.shape in shapes_of(p, 2))
        yield from (whole(spec, p, 0.2 * (p.owner != "table")) for p in fitting)
    if spec.holding is not Holding.PROJECTION:
        return
    for members, those, doubt in _places(spec, specs, [p for p in parameters if p.owner != "table"]):
        for layout in layouts_of(spec, members, those, specs):
            if layout.members or len(those) == 1 or layout.is_added or spec.heads > 1:
                yield layout.doubted(doubt)


def _places(
    spec: ContractWeight, specs: Sequence[ContractWeight], matrices: Sequence[Parameter]
) -> Iterator[tuple[Sequence[ContractWeight], Sequence[Parameter], float]]:
    """Yield which weights may lie in which parameters, in one or in one for each head, and how unusual that is."""
    lists: dict[str, list[Parameter]] = {}  # by the path without the number of a head
    for p in matrices:
        lists.setdefault(without_heads(p.path), []).append(p)
    for members, doubt in _sharing(spec, [one for one in specs if one.holding is Holding.PROJECTION]):
        heads = max(one.heads for one in specs) if len(members) == 1 else groups_of(members, specs)
        one_each = [group for group in lists.values() if len(group) == heads > 1 and len(members) < 4]
        yield from ((members, those, doubt) for those in (*([p] for p in matrices), *one_each))


def groups_of(members: Sequence[ContractWeight], specs: Sequence[ContractWeight]) -> int:
    """Return how many blocks there are in each of which all of `members` have a part: heads, or groups of them."""
    return max(spec.heads for spec in specs) if len(members) > 3 else min(member.heads for member in members)


def _sharing(
    spec: ContractWeight, projections: Sequence[ContractWeight]
) -> Iterator[tuple[Sequence[ContractWeight], float]]:
    """Yield which weights may lie in one place with this one, and how unusual that is: alone first.

    They lie in the contract's order, or in any that there is.
    """
    groups = (members for count in (1, 3, 2, 4) for members in combinations(projections, count) if spec in members)
    for members in groups:
        fixed = len(members) == 4 or any(member.ordered for member in members)
        for ordered in [members] if fixed else permutations(members):
            yield ordered, float(ordered != members)
