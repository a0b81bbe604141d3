"""Leads from the customary names of weights to the parameters that have them, and so to their layouts.

What is found under the name of a weight may be one parameter, or one for each head: `heads.0.W_query`, `W_query.0`; a
fused projection, `qkv`; an item of a plain list, `linears`; and any of these inside of a module of the student's own,
`query.linear`. A table is an `nn.Embedding` or an `nn.Parameter` of its shape; an exact weight has its own path.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from grader.box.binding import names
from grader.box.binding.layouts import (
    ContractWeight,
    Layout,
    Parameter,
    Piece,
    bias_blocks,
    groups_of,
    layouts_of,
    whole,
)
from grader.box.plan import Holding
from grader.errors import Ungradable


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
        decide: whether names and shapes leave no choice at all.
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
        self.decide = not self.refused and all(self._is_clear(spec) for spec in specs)

    def _layouts(self, spec: ContractWeight) -> list[Layout]:
        """Return the layouts of a weight in the parameters that its name leads to, the usual one first.

        Raises:
            Refused: it is not there, is there more than once, or has a shape that fits no layout.
        """
        if spec.holding is Holding.EXACT:
            return [self._exact(spec)]
        if spec.holding is Holding.TABLE:
            return [self._table(spec)]
        misfit: Refused | None = None
        for members, parameters in self._places(spec):
            layouts = list(layouts_of(spec, members, parameters, groups_of(members, [*self._specs.values()])))
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
        for name in self._present("weight", names.weight_names(spec.name)):
            if parameters := self._called(name, "weight", (1, 2, 3) if spec.shape[1] == 1 else (2, 3)):
                own = True
                yield [spec], parameters
        for members, parameters in () if own else self._fused(spec, "weight"):
            if len(parameters) == len(members) and names.is_item(
                parameters[0].path
            ):  # a list with one for each of them
                yield [spec], [parameters[members.index(spec)]]
            else:
                yield members, parameters
            return

    def _exact(self, spec: ContractWeight) -> Layout:
        for name in names.exact_names(spec.name):
            if paths := [path for path in self.parameters if f".{path}".endswith(f".{name}")]:
                return self._whole(spec, [self.parameters[name]] if name in paths else self._distinct(paths))
        return self._whole(spec, [])

    def _table(self, spec: ContractWeight) -> Layout:
        for axes in ((2,), (1, 3)):  # one with other axes is no such table, but the one that is meant
            for name in self._present("weight", names.weight_names(spec.name)):
                if parameters := self._called(name, "weight", axes):
                    return self._whole(spec, parameters)
        return self._whole(spec, [])

    def _whole(self, spec: ContractWeight, parameters: Sequence[Parameter]) -> Layout:
        """Return the layout of the only parameter, which is kept as it comes."""
        if not parameters:
            raise Refused(f"`{spec.name}`, of shape {spec.shape}, was not found", [spec.name], self._name_it(spec))
        parameter, *others = parameters
        if others:
            paths = ", ".join(p.path for p in parameters)
            raise Refused(f"`{spec.name}`, of shape {spec.shape}, exists more than once: {paths}.")
        if parameter.shape != spec.shape:
            raise Refused(f"`{spec.name}` must have shape {spec.shape} here; `{parameter.path}` has {parameter.shape}")
        return whole(spec, parameter)

    def _is_clear(self, spec: ContractWeight) -> bool:
        """Return whether the shapes of what was found under a name leave no other layout."""
        layout = self.layouts[spec.name][0]
        parameters = [self.parameters[path] for path in layout.paths]
        if spec.holding is not Holding.PROJECTION:
            return True
        if layout.members or len(parameters) > spec.heads:  # columns of a weight that has no heads may as well be rows
            return False
        return all(
            (p.owner == "linear" and not spec.either)
            or (len(set(p.shape)) == len(p.shape) and (layout.is_exact or self.note(spec, layout) != ""))
            for p in parameters
        )

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
        own = [(name, (1, 2, 3)) for name in self._present("bias", names.bias_names(spec.name))]
        shared = [(name, (1,)) for name in self._present("bias", names.weight_names(spec.name))]
        for name, axes in (*own, *shared):
            if biases := [p for p in self._called(name, "bias", axes) if p.path != layout.paths[0]]:
                return bias_blocks(spec.shape[1], biases)
        for members, (bias, *_) in self._fused(spec, "bias"):
            start = sum(member.shape[1] for member in members[: members.index(spec)])
            return bias_blocks(spec.shape[1], [bias], start)
        return ()

    def beside(self, layout: Layout) -> list[Parameter]:
        """Return the biases of the layers that a layout takes."""
        paths = (names.bias_beside(path) for path in layout.paths)
        return [self.parameters[path] for path in paths if path in self.parameters]

    def _called(self, name: str, leaf: str, axes: tuple[int, ...]) -> list[Parameter]:
        """Return the parameters under `name` with so many `axes`: one, or one per head in order.

        Raises:
            Refused: there are several for one head, or that are none of a head.
        """
        paths = [path for path in self._paths[leaf].get(name, ()) if len(self.parameters[path].shape) in axes]
        if len(paths) < 2:
            return [self.parameters[path] for path in paths]
        paths = [path for path in paths if f"{path}.".startswith(f"{name}.")] or paths  # not inside another part
        parameters = self._distinct(paths) if _clash(paths) else [self.parameters[path] for path in paths]
        if _clash(p.path for p in parameters):
            raise Refused(f"`{name}` exists more than once: {', '.join(p.path for p in parameters)}; keep only one")
        return sorted(parameters, key=_head)

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


def _head(parameter: Parameter) -> int:
    return names.head_number(parameter.path) or 0


def _clash(paths: Iterable[str]) -> bool:
    """Return whether two paths claim to be the same head, or the only one."""
    numbers = [names.head_number(path) for path in paths]
    return len(set(numbers)) < len(numbers)


def _misfit(spec: ContractWeight, members: Sequence[ContractWeight], parameters: Sequence[Parameter]) -> Refused:
    """Return what to say of parameters that have the right name and another shape."""
    (size_in, size_out), count = spec.shape, len(parameters)
    if len(members) > 1:
        total, summed = sum(member.shape[1] for member in members) // count, " + ".join(one.name for one in members)
        path, shape = parameters[0].path, parameters[0].shape
        return Refused(f"`{path}` must map {size_in} features to {total} ({summed}); it has shape {shape}")
    width, rest = divmod(size_out, count)
    if rest:
        return Refused(f"`{spec.name}` has {size_out} columns, which cannot be split equally over {count} parts")
    block = spec._replace(shape=(size_in, width))
    wrong = next((p for p in parameters if not any(layouts_of(block, [block], [p], spec.heads))), parameters[0])
    return Refused(
        f"`{spec.name}` maps {size_in} features to {width} here, so it must be an nn.Linear({size_in}, {width}) "
        f"or an nn.Parameter of shape ({size_in}, {width}); `{wrong.path}` has shape {wrong.shape}"
    )
