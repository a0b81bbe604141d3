"""Chooses the layout of every weight: by name where names decide, and otherwise among all that the shapes allow.

Where names and shapes leave several assignments, this counts them and takes one of them. Which one is right cannot be
known here: the box holds no answer. So a plan may ask for another one by its number (`Pick.nth`), or for one that was
described before, in a construction of other sizes (`Pick.places`); `grader.judge.placing` does both.

A description has a line for each weight with the key of its layout, `W1=attn.weight|T||0`, or for a part of the module
with its path, `encoder_attention@=attn`. Several descriptions stand with an empty line between.

What is found under the name of a weight may be one parameter, or one for each head: `heads.0.W_query`, `W_query.0`; a
fused projection, `qkv`; an item of a plain list, `linears`; and any of these inside of a module of the student's own,
`query.linear`. A table is an `nn.Embedding` or an `nn.Parameter` of its shape; an exact weight has its own path.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, islice, product
from math import prod
from typing import NamedTuple

from torch import Tensor, nn

from grader.box.binding import names
from grader.box.binding.layouts import (
    ContractWeight,
    Layout,
    Parameter,
    Piece,
    bias_blocks,
    everywhere,
    layouts_of,
    whole,
)
from grader.box.binding.parts import Inventory, Members, by_part, paths_of_parts
from grader.box.plan import MOST_CHOICES, Holding, Pick, Weight
from grader.errors import Ungradable

Assignment = Mapping[str, Layout]  # by the weight's name in its part
Wanted = frozenset[tuple[str, str]]  # the full names of weights, each with the key of the layout that it shall have

_MOST_LISTED = 1000  # assignments, of which the most likely are kept
_STEPS = 20_000  # of the search, for all weights of one part together


class Refused(Ungradable):
    """A weight has no place; of those that are `lacking`, the message shall still say what there is instead."""

    def __init__(self, text: str, lacking: Sequence[str] = (), advice: str = "", *, absent: bool = False) -> None:
        super().__init__(text)
        self.lacking, self.advice = tuple(lacking), advice
        self.is_absent = absent  # no name leads to the weight; it may lie under another one


class Named:
    """The weights of one part of a module that have a customary name.

    Attributes:
        parameters: all that the part has, by their paths.
        layouts: of each weight with a name, the usual one first.
        refused: why the others have none.
        decide: whether every weight has a name, and a shape with one layout.
    """

    def __init__(self, parameters: Sequence[Parameter], specs: Sequence[ContractWeight]) -> None:
        self.parameters = {parameter.path: parameter for parameter in parameters}
        self.layouts: dict[str, list[Layout]] = {}
        self.refused: dict[str, Refused] = {}
        self._specs = {spec.name: spec for spec in specs}
        words = names.known_words(tuple(self._specs))
        self._paths: dict[str, dict[str | None, list[str]]] = {"weight": {}, "bias": {}}
        for path in self.parameters:
            for leaf, stems in self._paths.items():
                stems.setdefault(names.stem(path, leaf, words), []).append(path)
        for spec in specs:
            try:
                self.layouts[spec.name] = self._layouts(spec)
            except Refused as error:
                self.refused[spec.name] = error
        self.decide = not self.refused and all(len(layouts) == 1 for layouts in self.layouts.values())

    def _layouts(self, spec: ContractWeight) -> list[Layout]:
        """Return the layouts of a weight in the parameters that its name leads to, the usual one first.

        Raises:
            Refused: it is not there, is there more than once, or has a shape that fits no layout.
        """
        if spec.holding is not Holding.PROJECTION:
            return [self._whole(spec)]
        misfit: Refused | None = None
        for members, parameters in self._places(spec):
            layouts = list(layouts_of(spec, members, parameters, [*self._specs.values()]))
            if layouts:
                own, *others = sorted(layouts, key=lambda layout: (layout.rarity, not layout.is_exact))
                return [own.doubted(-own.rarity), *(other.doubted(1.0) for other in others)]
            misfit = misfit or _misfit(spec, members, parameters)  # a module may hold layers for other constructions
        if misfit is not None:
            raise misfit
        size_in, size_out = spec.shape
        text = f"`{spec.name}` ({size_in} to {size_out} features) was not found"
        raise Refused(text, [spec.name], self._name_it(spec), absent=True)

    def _places(self, spec: ContractWeight) -> Iterator[tuple[Sequence[ContractWeight], Sequence[Parameter]]]:
        """Yield the parameters that are called like a projection, or else like a fused one, with all that they hold."""
        own = False
        for parameters in self._called("weight", names.weight_names(spec.name), _axes_of(spec)):
            own = True
            yield [spec], parameters
        for members, parameters in () if own else self._fused(spec, "weight"):
            one_each = len(parameters) == len(members) and names.is_item(parameters[0].path)
            if one_each:
                yield [spec], [parameters[members.index(spec)]]
            else:
                yield members, parameters
            return

    def _whole(self, spec: ContractWeight) -> Layout:
        """Return the layout of a weight that is kept as it comes."""
        if spec.holding is Holding.TABLE:
            called = (self._called("weight", names.weight_names(spec.name), axes) for axes in ((2,), (1, 3)))
            found = next(chain.from_iterable(called), [])  # one with other axes is no such table, but it is meant
        else:
            known = names.exact_names(spec.name)
            ends = ([path for path in self.parameters if f".{path}".endswith(f".{name}")] for name in known)
            paths = next(filter(None, ends), [])
            found = self._distinct([path for path in paths if path in known] or paths)
        if not found:
            raise Refused(f"`{spec.name}`, of shape {spec.shape}, was not found", [spec.name], self._name_it(spec))
        if len(found) > 1:
            paths = [parameter.path for parameter in found]
            raise Refused(f"`{spec.name}`, of shape {spec.shape}, exists more than once: {', '.join(paths)}.")
        (parameter,) = found
        if parameter.shape != spec.shape:
            raise Refused(f"`{spec.name}` must have shape {spec.shape} here; `{parameter.path}` has {parameter.shape}")
        return whole(spec, parameter)

    def note(self, spec: ContractWeight, layout: Layout) -> str:
        """Return what a student is told of the layout of a weight that was found by its name."""
        parameter, sizes = self.parameters[layout.paths[0]], layout.sizes
        if parameter.shape == (1, *spec.shape) and spec.holding is Holding.PROJECTION:
            return "head 0"
        if layout.kind == "T" and not parameter.is_layer:
            return "the other way round" if len(parameter.shape) > 2 else "transposed"
        separate = layout.kind == "N" and parameter.shape == (sizes["i"], sizes.get("H"), sizes.get("d"))
        return "heads on a separate axis" if separate else ""

    def bias(self, spec: ContractWeight, layout: Layout) -> tuple[Piece, ...]:
        """Return the pieces of the bias of a weight: beside its matrix, or under a name of its own; or none.

        Raises:
            Refused: there are several of one name.
        """
        beside = self.beside(layout)[: 1 if layout.is_added else None]
        if beside and (layout.is_added or len(beside) == len(layout.paths)):
            return layout.bias_pieces(beside)
        own = self._called("bias", names.bias_names(spec.name), (1, 2, 3))
        shared = self._called("bias", names.weight_names(spec.name), (1,))
        for called in chain(own, shared):
            if biases := [p for p in called if p.path != layout.paths[0]]:
                return bias_blocks(spec.shape[1], biases)
        for members, (bias, *_) in self._fused(spec, "bias"):
            start = sum(member.shape[1] for member in members[: members.index(spec)])
            return bias_blocks(spec.shape[1], [bias], start)
        return ()

    def beside(self, layout: Layout) -> list[Parameter]:
        """Return the biases of the layers that a layout takes."""
        paths = (names.bias_beside(path) for path in layout.paths)
        return [self.parameters[path] for path in paths if path in self.parameters]

    def _called(self, leaf: str, known: tuple[str, ...], axes: tuple[int, ...]) -> Iterator[list[Parameter]]:
        """Yield what is called by each of the `known` names and has so many `axes`: one, or one per head in order.

        Raises:
            Refused: there are several for one head, or that are none of a head.
        """
        for name in self._present(leaf, known):
            paths = [path for path in self._paths[leaf][name] if len(self.parameters[path].shape) in axes]
            if _clash(paths):
                paths = [path for path in paths if f"{path}.".startswith(f"{name}.")] or paths  # not in another part
            if _clash(paths):
                paths = [parameter.path for parameter in self._distinct(paths)]
            if _clash(paths):
                raise Refused(f"`{name}` exists more than once: {', '.join(paths)}; keep only one")
            if paths:
                yield sorted((self.parameters[path] for path in paths), key=_head)

    def _distinct(self, paths: Iterable[str]) -> list[Parameter]:
        """Return each parameter once: it may be registered in two places."""
        parameters: dict[str, Parameter] = {}
        for path in paths:
            parameters.setdefault(self.parameters[path].first, self.parameters[path])
        return list(parameters.values())

    def _present(self, leaf: str, known: tuple[str, ...]) -> list[str]:
        """Return those of the customary names, in their order, that anything here has: of a hundred hardly one."""
        stems = self._paths[leaf]
        return [] if stems.keys().isdisjoint(known) else [name for name in known if name in stems]

    def _fused(self, spec: ContractWeight, leaf: str) -> Iterator[tuple[list[ContractWeight], list[Parameter]]]:
        """Yield the weights that share a fused projection with this one, and the parameters: one, or one per head."""
        for members, known in names.FUSED:
            if spec.name in members and self._specs.keys() >= set(members):
                present = self._present(leaf, known if leaf == "weight" else names.fused_bias_names(known))
                paths = [path for name in present for path in self._paths[leaf][name]]
                if paths and not _clash(paths) and (known is not names.LISTS or len(paths) == len(members)):
                    parameters = sorted((self.parameters[path] for path in paths), key=_head)
                    yield [self._specs[name] for name in members], parameters

    def _name_it(self, spec: ContractWeight) -> str:
        """Return how a projection or a table may be called; a weight with a path of its own needs no telling."""
        if spec.holding is Holding.EXACT:
            return ""
        others = ", ".join(names.weight_names(spec.name)[1:6])
        there = "Name it" if self.parameters else "It must be there in this case, as"
        return f" {there} `{spec.name}`, or one of {others}." if others else f" {there} `{spec.name}`, exactly."


def _axes_of(spec: ContractWeight) -> tuple[int, ...]:
    """Return how many axes a parameter for a projection may have."""
    return (1, 2, 3) if spec.shape[1] == 1 else (2, 3)


def _head(parameter: Parameter) -> int:
    return names.head_number(parameter.path) or 0


def _clash(paths: Iterable[str]) -> bool:
    """Return whether two paths claim to be the same head, or the only one."""
    numbers = [names.head_number(path) for path in paths]
    return len(set(numbers)) < len(numbers)


def _misfit(spec: ContractWeight, members: Sequence[ContractWeight], parameters: Sequence[Parameter]) -> Refused:
    (size_in, size_out), count = spec.shape, len(parameters)
    if len(members) > 1:
        total, summed = sum(member.shape[1] for member in members) // count, " + ".join(one.name for one in members)
        path, shape = parameters[0].path, parameters[0].shape
        return Refused(f"`{path}` must map {size_in} features to {total} ({summed}); it has shape {shape}")
    width, rest = divmod(size_out, count)
    if rest:
        return Refused(f"`{spec.name}` has {size_out} columns, which cannot be split equally over {count} parts")
    block = spec._replace(shape=(size_in, width))
    wrong = next((p for p in parameters if not any(layouts_of(block, [block], [p], [block]))), parameters[0])
    return Refused(
        f"`{spec.name}` maps {size_in} features to {width} here, so it must be an nn.Linear({size_in}, {width}) "
        f"or an nn.Parameter of shape ({size_in}, {width}); `{wrong.path}` has shape {wrong.shape}"
    )


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """The pieces of each canonical tensor, and those of biases that the contract does not have.

    `count` is the number of assignments that there were to choose from; `places` describes this one, and is empty where
    names and shapes left no choice.
    """

    pieces: Mapping[str, tuple[Piece, ...]]
    superfluous: tuple[Piece, ...]
    count: int = 1
    places: str = ""


class _Part:
    """Where the weights of one part of a module may lie, as far as its paths and shapes say."""

    def __init__(self, parameters: tuple[Parameter, ...], specs: tuple[ContractWeight, ...]) -> None:
        self._named = Named(parameters, specs)
        self._specs = specs
        self._unique = [p for p in parameters if p.path == p.first and not p.path.endswith(".bias")]
        self._listed: dict[Wanted, list[Assignment | None]] = {}

    def assignments(self, wanted: Wanted) -> list[Assignment | None]:
        """Return the assignments that there are, the most likely first; None stands for the one that names give.

        Raises:
            Refused: there is none at all.
        """
        if not wanted and self._named.decide:
            return [None]
        if wanted not in self._listed:
            self._listed[wanted] = self._list(wanted)
        return self._listed[wanted]

    def _list(self, wanted: Wanted) -> list[Assignment | None]:
        refused, keys = self._named.refused, dict(wanted)
        layouts = {spec.name: self._layouts(spec, keys.get(spec.full_name, "")) for spec in self._specs}
        listed = list(islice(assignments(layouts), _MOST_LISTED))
        if not listed and refused:
            raise _refusal(refused, layouts)
        ranks = {path: rank for rank, path in enumerate(self._named.parameters)}
        listed.sort(key=lambda assignment: _cost(assignment, ranks))
        return [*listed[:MOST_CHOICES]] or [None]

    def _layouts(self, spec: ContractWeight, wanted: str) -> list[Layout]:
        """Return the layouts that are tried for a weight, the doubts about each added to its rarity."""
        named = self._named.layouts.get(spec.name)
        if named is not None and not wanted:
            return named
        listed = list(everywhere(spec, self._specs, self._unique))
        asked = [o for o in listed if o.key == wanted] or [o for o in listed if wanted in o.keys_by_heads]
        if asked or named is not None:
            return asked[:1] or named or []
        taken = {path for layouts in self._named.layouts.values() for path in layouts[0].paths}
        free = [layout for layout in listed if not taken.intersection(layout.paths)] or listed
        return self._as_said(spec.name, free)

    def _as_said(self, name: str, free: list[Layout]) -> list[Layout]:
        """Return the layouts that the words in their names do not speak against, unless they speak against all."""
        said = [(names.role(layout.paths[0]), layout) for layout in free]
        if (meant := names.ROLES.get(name)) is None:
            likely = names.LIKELY.get(name)
            return [layout.doubted(float(bool(likely and role and role not in likely))) for role, layout in said]
        others = {names.ROLES.get(spec.name) for spec in self._specs}
        return (
            [layout for role, layout in said if role == meant]
            or [layout for role, layout in said if role not in others]
            or free
        )

    def pieces(self, assignment: Assignment | None) -> tuple[dict[str, tuple[Piece, ...]], list[Piece]]:
        """Return the pieces of each canonical tensor by its full name, and those of superfluous biases.

        Raises:
            Refused: a weight has no place for the bias that the contract gives it.
        """
        named = self._named
        layouts = {name: found[0] for name, found in named.layouts.items()} if assignment is None else assignment
        pieces: dict[str, tuple[Piece, ...]] = {}
        superfluous: list[Piece] = []
        taken = {named.parameters[path].first for layout in layouts.values() for path in layout.paths}
        for spec in self._specs:
            layout = layouts[spec.name]
            if assignment is None and not layout.note and (note := named.note(spec, layout)):
                layout = replace(layout, note=note)
            pieces[spec.full_name] = layout.pieces()
            if spec.holding is not Holding.PROJECTION:
                continue
            bias = named.bias(spec, layout)
            if not bias and spec.biased and assignment is not None:
                bias = self._left_over(spec, layout, taken)
            if layout.is_added:  # all biases but the first
                superfluous += [piece for one in named.beside(layout)[1:] for piece in layout.bias_pieces([one])]
            if spec.biased and not layout.members:  # else others have their part of it
                taken |= {named.parameters[piece.path].first for piece in bias}
            if not spec.biased:
                superfluous += bias
            elif bias:
                pieces[f"{spec.full_name}.bias"] = bias
            else:
                raise Refused(_biasless(spec, layout.paths[0]))
        return pieces, superfluous

    def _left_over(self, spec: ContractWeight, layout: Layout, taken: AbstractSet[str]) -> tuple[Piece, ...]:
        """Return a bias that no name tells: a vector of the right length that nobody has taken yet."""
        meant = names.ROLES.get(spec.name)
        vectors = [
            p
            for p in self._named.parameters.values()
            if prod(p.shape) == layout.bias_size and p.first not in taken and not p.path.endswith(".weight")
        ]
        vectors.sort(key=lambda parameter: names.role(parameter.path) not in (meant, ""))
        return layout.bias_pieces(vectors[:1]) if vectors else ()

    def describe(self, assignment: Assignment | None) -> list[str]:
        """Return a line for each weight of an assignment that names did not give."""
        full = {spec.name: spec.full_name for spec in self._specs}
        return [f"{full[name]}={layout.key}" for name, layout in (assignment or {}).items()]


_part = lru_cache(maxsize=64)(_Part)  # a search for a place by its behaviour builds one module a hundred times


def _refusal(refused: Mapping[str, Refused], layouts: Mapping[str, list[Layout]]) -> Refused:
    certain = [error for name, error in refused.items() if not (error.is_absent and layouts[name])]
    if certain or len(refused) == 1:
        return next(iter(certain or refused.values()))
    lacking = list(refused)
    listed = f"{', '.join(f'`{name}`' for name in lacking[:-1])} or `{lacking[-1]}`"
    return Refused(f"{listed} is missing", lacking, " Give the weights these names to see which.")


def _biasless(spec: ContractWeight, path: str) -> str:
    by = spec.biased_by
    if by:
        what = f"in this case, where `{by}` is True, but `{path}` has none; pass `{by}` on to its layer, as `bias={by}`"
    else:
        what = f"here, but `{path}` has none; create its layer with `bias=True`"
    return f"`{spec.full_name}` must have a bias {what}"


def assignments(layouts: Mapping[str, list[Layout]]) -> Iterator[Assignment]:
    """Yield every way to give each weight a place of its own, and to leave no part of a fused place empty."""
    order = sorted(layouts, key=lambda name: len(layouts[name]))
    levels = [sorted(layouts[name], key=lambda layout: layout.rarity) for name in order]
    steps = 0

    def extend(chosen: tuple[Layout, ...]) -> Iterator[Assignment]:
        nonlocal steps
        steps += 1
        if len(chosen) < len(order):
            for layout in levels[len(chosen)]:
                if steps >= _STEPS:
                    return
                if all(_fit(layout, other) for other in chosen):
                    yield from extend((*chosen, layout))
            return
        used = Counter((layout.paths, len(layout.members)) for layout in chosen if layout.members)
        if all(count == parts for (_, parts), count in used.items()):
            found = dict(zip(order, chosen, strict=True))
            yield {name: found[name] for name in layouts}

    return extend(())


def _fit(one: Layout, other: Layout) -> bool:
    """Return whether two weights may lie so: at different paths, or as different parts of the same place."""
    if one.paths == other.paths:
        return one.part != other.part and (one.members, one.kind) == (other.members, other.kind)
    return not any(path in other.paths for path in one.paths)


def _cost(assignment: Assignment, ranks: Mapping[str, int]) -> float:
    """Return what speaks against an assignment: doubts, mixed layouts, and another order than the contract's."""
    chosen = list(assignment.values())
    places = [(ranks[layout.paths[0]], layout.part) for layout in chosen]
    turned = sum(one > other for i, one in enumerate(places) for other in places[i + 1 :])
    return sum(layout.rarity for layout in chosen) + 0.6 * len({layout.kind for layout in chosen}) + 0.05 * turned


def choose(inventory: Inventory, weights: Sequence[Weight], pick: Pick) -> Chosen:
    """Return the assignment that `pick` asks for, for all parts of a module together.

    Raises:
        Ungradable: a weight has no place at all, or there is no assignment of that number.
    """
    members = by_part(inventory, weights)
    ways = paths_of_parts(inventory, members)
    lines = [_lines(way) if len(ways) > 1 else [] for way in ways]
    described = fitting(pick.places, {weight.name for weight in weights})
    asked = [way for way, own in zip(ways, lines, strict=True) if own and set(own) <= set(described)]
    wanted: Wanted = frozenset((name, key) for name, _, key in (line.partition("=") for line in described))
    together: list[tuple[Mapping[str, str], tuple[_Filled, ...]]] = []
    refusal: Ungradable | None = None
    for way in asked or ways:
        try:
            lists = [_fill(inventory.below(way[scope]), way[scope], held, wanted) for scope, held in members.items()]
        except Ungradable as error:
            refusal = refusal or error
            continue
        together += islice(((way, filled) for filled in product(*lists)), MOST_CHOICES - len(together))
    if refusal is not None and not together:
        raise refusal
    if pick.nth >= len(together):
        raise Ungradable(f"there is no assignment {pick.nth} of your weights, only {len(together)}")
    way, filled = together[pick.nth]
    pieces: dict[str, tuple[Piece, ...]] = {}
    superfluous: list[Piece] = []
    places = [*lines[ways.index(way)]]
    for one in filled:
        try:
            own, extra = one.part.pieces(one.assignment)
        except Refused as error:
            raise Ungradable(str(error)) from None  # of the class that travels
        pieces |= {name: _below(one.path, those) for name, those in own.items()}
        superfluous += _below(one.path, extra)
        places += one.part.describe(one.assignment)
    return Chosen(pieces, tuple(superfluous), len(together), "\n".join(places))


def _lines(way: Mapping[str, str]) -> list[str]:
    """Return where the parts are that their names do not tell, in words that mean the same in other sizes."""
    return [f"{scope}@={path}" for scope, path in way.items() if path != scope]


def _below(path: str, pieces: Iterable[Piece]) -> tuple[Piece, ...]:
    return tuple(replace(piece, path=f"{path}.{piece.path}") for piece in pieces) if path else tuple(pieces)


class _Filled(NamedTuple):
    """A part of the module at a path, with an assignment in it."""

    part: _Part
    path: str
    assignment: Assignment | None


def _fill(inventory: Inventory, path: str, members: Members, wanted: Wanted) -> list[_Filled]:
    part = _part(inventory.without_numbers(), members)
    try:
        return [_Filled(part, path, assignment) for assignment in part.assignments(wanted)]
    except Refused as error:
        raise Ungradable(_instead(error, inventory)) from None


def _instead(error: Refused, inventory: Inventory) -> str:
    """Return what to say, with what there is instead of weights, and the advice where they are not merely hidden."""
    if not error.lacking:
        return str(error)
    there = ", ".join(f"{path} {tuple(p.shape)}" for path, p in inventory.parameters.items()) or "no parameters"
    known = {alias for name in error.lacking for alias in names.weight_names(name)}
    return f"{error}; your module has: {there}.{_hidden(inventory, known) or error.advice}"


def _hidden(inventory: Inventory, known: AbstractSet[str]) -> str:
    """Return a hint where a weight is a tensor that is no parameter, or a plain list hides layers from PyTorch."""
    for part in inventory.distinct.values():
        for name, value in (*vars(part).items(), *part._buffers.items()):
            if name in known and isinstance(value, Tensor):
                kind = "a buffer" if name in part._buffers else "a plain tensor"
                return f" `self.{name}` is {kind}, which is not trained: wrap it in nn.Parameter."
    for name, value in vars(inventory.module).items():
        layers = (item for item in value if isinstance(item, nn.Module)) if isinstance(value, list | tuple) else ()
        if any(layer._parameters or layer._modules for layer in layers):
            return f" `self.{name}` is a plain list of layers, which PyTorch does not register: use nn.ModuleList."
    return ""


def described_names(places: str) -> frozenset[str]:
    """Return the weights whose places are described."""
    return frozenset(line.partition("=")[0] for line in places.splitlines())


def fitting(places: str, wanted: AbstractSet[str]) -> list[str]:
    """Return the lines of that description, out of several, which fits best to the weights of these names."""
    described = (_inside(one, wanted) for one in places.split("\n\n"))
    return max(described, key=lambda one: -len(described_names(one) ^ wanted)).splitlines()


def _inside(places: str, wanted: AbstractSet[str]) -> str:
    """Return a description of a module with the names that its weights have as a part of a model.

    A model of ours that is trained around a submission calls the `W1` of the contract `model.attention.W1`.
    """
    held: defaultdict[str, set[str]] = defaultdict(set)
    for name in wanted:
        scope, _, local = name.rpartition(".")
        held[scope].add(local)
    scopes = [scope for scope, members in held.items() if scope and members == described_names(places)]
    return "\n".join(f"{scopes[0]}.{line}" for line in places.splitlines()) if len(scopes) == 1 else places
