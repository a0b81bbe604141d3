"""Finds the contract's weights in the student's module by customary names; `choosing` goes on from there.

A canonical projection is a matrix (in, out) with an optional bias (out,). It is looked for as

- `nn.Linear`: weight (out, in);
- `nn.Parameter`: (in, out), transposed only where its shape forces that, or with the heads on a separate axis,
  (heads, in, out / heads) or (in, heads, out / heads);
- one module or parameter per head, `heads.0.W_query`, `W_query.0`: block i is head i;
- a slice of one fused projection, `qkv`: query, key, value along the output, along a first axis, or in a list;
- an item of one plain list, `linears`: query, key, value, and the output projection if there are four;
- any of these inside a module of the student's own, `query.linear`.

A table is looked for as `nn.Embedding` or as an `nn.Parameter` of its shape; an exact weight under its own path.

Every layout comes down to pieces: a view of a parameter that shows some columns of the canonical matrix. The same
view that the weight is written through reads its gradient; `binding` does both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torch import nn

from grader.box import layouts
from grader.box.aliases import (
    FUSED,
    LISTS,
    bias_names,
    exact_names,
    fused_bias_names,
    fused_words,
    known_words,
    weight_names,
)
from grader.box.inventory import Inventory
from grader.box.layouts import Piece, stem
from grader.box.plan import Holding, Weight
from grader.errors import Ungradable


class Absent(Ungradable):
    """No parameter has a name that leads to the weight; it may lie under another one."""


class Finder:
    """Looks weights up by stem: the last name of a path that says what a parameter is."""

    def __init__(self, inventory: Inventory, weights: tuple[Weight, ...]) -> None:
        self.parameters = inventory.parameters
        self._inventory = inventory
        self._weights = {weight.name: weight for weight in weights}
        self._words = known_words(tuple(self._weights))
        self._stems: dict[str, dict[str | None, list[str]]] = {"weight": {}, "bias": {}}
        for path in self.parameters:
            for leaf, stems in self._stems.items():
                stems.setdefault(stem(path, leaf, self._words), []).append(path)
        for path in inventory.lazy:
            raise Ungradable(f"`{path}` has no shape yet; replace the lazy layer with one that gets the input width")

    def matrix(self, weight: Weight) -> tuple[Piece, ...]:
        """Return the pieces that hold the matrix of `weight`.

        Raises:
            Ungradable: it is not there, is there more than once, or has a shape that fits no layout.
        """
        if weight.holding is Holding.EXACT:
            return self._exact(weight)
        if weight.holding is Holding.TABLE:
            return self._table(weight)
        dims = (1, 2, 3) if weight.matrix.shape[1] == 1 else (2, 3)
        misfit: Ungradable | None = None
        for name in self._present("weight", weight_names(weight.name)):
            if paths := self._paths(name, "weight", dims):
                try:
                    return self._pieces(weight, paths)
                except Ungradable as error:  # a module may hold layers for constructions other than this one
                    misfit = misfit or error
        if misfit is not None:
            raise misfit
        if (fused := self._fused(weight)) is not None:
            return fused
        raise Absent(self._missing(weight))

    def _exact(self, weight: Weight) -> tuple[Piece, ...]:
        for name in exact_names(weight.name):
            if paths := [path for path in self.parameters if f".{path}".endswith(f".{name}")]:
                return (self._whole(weight, [name] if name in paths else self._distinct(paths)),)
        return (self._whole(weight, []),)

    def _table(self, weight: Weight) -> tuple[Piece, ...]:
        for dims in ((2,), (1, 3)):  # one with other axes is no such table, but the one that is meant
            for name in weight_names(weight.name):
                if paths := self._paths(name, "weight", dims):
                    return (self._whole(weight, paths),)
        return (self._whole(weight, []),)

    def _whole(self, weight: Weight, paths: list[str]) -> Piece:
        """Return the one parameter at `paths`, which is kept as it comes."""
        shape = tuple(weight.matrix.shape)
        if len(paths) != 1:
            absent = f"was not found; {self._instead([weight.name], self._name_it(weight))}"
            said = f"exists more than once: {', '.join(paths)}." if paths else absent
            raise Ungradable(f"`{weight.name}`, of shape {shape}, {said}")
        parameter = self.parameters[paths[0]]
        if tuple(parameter.shape) != shape:
            raise Ungradable(f"`{weight.name}` must have shape {shape} here; `{paths[0]}` has {tuple(parameter.shape)}")
        return Piece(paths[0], parameter, layouts.as_is, 0, shape[-1])

    def bias(self, weight: Weight, matrix: tuple[Piece, ...]) -> tuple[Piece, ...]:
        """Return the pieces that hold the bias of `weight`: beside its matrix, or under a name of its own; or none."""
        if weight.holding is not Holding.PROJECTION:
            return ()
        beside = [layouts.bias_path(piece.path) for piece in matrix]
        if all(path in self.parameters for path in beside):
            if weight.either:  # which way round it lies says how long its bias is
                whole = self.parameters[beside[0]]
                return (Piece(beside[0], whole, layouts.as_is, 0, len(whole)),)
            offsets = [self._fused_offset(weight, piece) // len(matrix) for piece in matrix]
            return tuple(
                self._part(path, offset, piece) for path, offset, piece in zip(beside, offsets, matrix, strict=True)
            )
        own = [(name, (1, 2, 3)) for name in self._present("bias", bias_names(weight.name))]
        shared = [(name, (1,)) for name in self._present("bias", weight_names(weight.name))]
        for name, dims in (*own, *shared):
            paths = [path for path in self._paths(name, "bias", dims) if path != matrix[0].path]
            if paths:
                return layouts.bias_blocks(weight.matrix.shape[1], [(path, self.parameters[path]) for path in paths])
        return self._fused_bias(weight)

    def _part(self, path: str, offset: int, piece: Piece) -> Piece:
        """Return the piece of a bias that belongs to `piece` of its matrix."""
        view = layouts.columns(offset, piece.stop - piece.start)
        return Piece(path, self.parameters[path], view, piece.start, piece.stop)

    def _paths(self, name: str, leaf: str, dims: tuple[int, ...]) -> list[str]:
        """Return the paths under `name`, of parameters with `dims` axes: one, or one per head in order."""
        found = [path for path in self._stems[leaf].get(name, ()) if self.parameters[path].dim() in dims]
        if len(found) < 2:
            return found
        found = [path for path in found if f"{path}.".startswith(f"{name}.")] or found  # not inside another part
        if _clash(found):
            found = self._distinct(found)
        if _clash(found):
            raise Ungradable(f"`{name}` exists more than once: {', '.join(found)}; keep only one")
        return sorted(found, key=lambda path: layouts.block_index(path) or 0)

    def _distinct(self, paths: list[str]) -> list[str]:
        """Return one path for each parameter, the first: one parameter may be registered in two places."""
        return list({id(self.parameters[path]): path for path in reversed(paths)}.values())[::-1]

    def _present(self, leaf: str, names: tuple[str, ...]) -> list[str]:
        """Return those of the customary `names`, in their order, that anything here has: of a hundred hardly one."""
        stems = self._stems[leaf]
        return [] if stems.keys().isdisjoint(names) else [name for name in names if name in stems]

    def _all(self, names: tuple[str, ...], leaf: str) -> list[str]:
        return [path for name in self._present(leaf, names) for path in self._stems[leaf][name]]

    def _pieces(self, weight: Weight, paths: list[str]) -> tuple[Piece, ...]:
        size_in, size_out = weight.matrix.shape
        width = size_out // len(paths)
        if width * len(paths) != size_out:
            raise Ungradable(
                f"`{weight.name}` has {size_out} columns, which cannot be split equally over {len(paths)} parts"
            )
        pieces: list[Piece] = []
        for number, path in enumerate(paths):
            pieces += self._layout(weight, path, (size_in, width), number * width)
        return tuple(pieces)

    def _layout(self, weight: Weight, path: str, shape: tuple[int, int], start: int) -> list[Piece]:
        parameter, (size_in, width) = self.parameters[path], shape
        found, linear = tuple(parameter.shape), self.is_linear(path)
        if found == (width, size_in) and (linear or size_in != width):
            return [Piece(path, parameter, layouts.transposed, start, start + width, "" if linear else "transposed")]
        if found == (size_in, width) and not linear:
            return [Piece(path, parameter, layouts.as_is, start, start + width)]
        if weight.either and found == (size_in, width):
            return [Piece(path, parameter, layouts.as_is, start, start + width, "the other way round")]
        if weight.either and found == (1, width, size_in):
            return [Piece(path, parameter, lambda p: p[0].T, start, start + width, "the other way round")]
        if found == (size_in,) and width == 1:
            return [Piece(path, parameter, layouts.column, start, start + 1)]
        heads = weight.heads
        if found == (heads, size_in, width // max(heads, 1)):
            step = width // heads
            return [
                Piece(path, parameter, layouts.head(i), i * step, (i + 1) * step, f"head {i}") for i in range(heads)
            ]
        if found == (size_in, heads, width // max(heads, 1)):
            return [Piece(path, parameter, layouts.heads_inside, start, start + width, "heads on a separate axis")]
        raise Ungradable(
            f"`{weight.name}` maps {size_in} features to {width} here, so it must be an nn.Linear({size_in}, {width}) "
            f"or an nn.Parameter of shape ({size_in}, {width}); `{path}` has shape {found}"
        )

    def _fused(self, weight: Weight) -> tuple[Piece, ...] | None:
        for members, paths in self._fused_at(weight, "weight"):
            if len(paths) == len(members) and layouts.is_item(paths[0]):  # a list with a layer for each of them
                own = paths[members.index(weight.name)]
                return tuple(self._layout(weight, own, (weight.matrix.shape[0], weight.matrix.shape[1]), 0))
            layers = enumerate(paths)
            return tuple(self._fused_piece(weight, members, path, part=(i, len(paths))) for i, path in layers)
        return None

    def _fused_bias(self, weight: Weight) -> tuple[Piece, ...]:
        for members, (path, *_) in self._fused_at(weight, "bias"):
            view = layouts.entries(self._offset(weight, members), weight.matrix.shape[1])
            return (Piece(path, self.parameters[path], view, 0, weight.matrix.shape[1]),)
        return ()

    def _fused_at(self, weight: Weight, leaf: str) -> Iterator[tuple[tuple[str, ...], list[str]]]:
        """Yield the members of a fused projection that holds `weight`, and its paths: one, or one per head in order."""
        if self._stems[leaf].keys().isdisjoint(fused_words(leaf)):
            return
        for members, names in FUSED:
            if weight.name in members and all(member in self._weights for member in members):
                paths = self._all(names if leaf == "weight" else fused_bias_names(names), leaf)
                if paths and not _clash(paths) and (names is not LISTS or len(paths) == len(members)):
                    yield members, sorted(paths, key=lambda path: layouts.block_index(path) or 0)

    def _fused_piece(self, weight: Weight, members: tuple[str, ...], path: str, *, part: tuple[int, int]) -> Piece:
        number, parts = part  # which head's, of how many
        size_in, width = weight.matrix.shape[0], weight.matrix.shape[1] // parts
        total = sum(self._weights[name].matrix.shape[1] for name in members) // parts
        offset, start = self._offset(weight, members) // parts, number * width
        parameter, linear = self.parameters[path], self.is_linear(path) or path.endswith("in_proj_weight")
        rows = f"part {members.index(weight.name) + 1} of {len(members)}"
        if tuple(parameter.shape) == (total, size_in) and (linear or total != size_in):
            return Piece(path, parameter, layouts.rows(offset, width), start, start + width, rows)
        if tuple(parameter.shape) == (size_in, total) and not linear:
            return Piece(path, parameter, layouts.columns(offset, width), start, start + width, rows)
        if tuple(parameter.shape) == (len(members), size_in, width):
            return Piece(path, parameter, layouts.head(members.index(weight.name)), start, start + width, rows)
        raise Ungradable(
            f"`{path}` must map {size_in} features to {total} ({' + '.join(members)}); "
            f"it has shape {tuple(parameter.shape)}"
        )

    def _fused_offset(self, weight: Weight, piece: Piece) -> int:
        """Return where in the bias beside `piece` the weight's part starts."""
        whole = (piece.start, piece.stop) == (0, weight.matrix.shape[1])
        alone = whole and self.parameters[piece.path].numel() == weight.matrix.numel()
        for members, names in FUSED:
            if not alone and weight.name in members and stem(piece.path, "weight", self._words) in names:
                return self._offset(weight, members)
        return 0

    def _offset(self, weight: Weight, members: tuple[str, ...]) -> int:
        """Return how many columns of a fused projection come before those of `weight`."""
        return sum(self._weights[name].matrix.shape[1] for name in members[: members.index(weight.name)])

    def is_linear(self, path: str) -> bool:
        """Return whether a parameter belongs to an `nn.Linear`."""
        return isinstance(self._inventory.parts.get(path.rpartition(".")[0]), nn.Linear)

    def too_few(self, names: Sequence[str]) -> str:
        """Return what to say of weights of which each could lie somewhere, but not all of them."""
        listed = f"{', '.join(f'`{name}`' for name in names[:-1])} or `{names[-1]}`"
        told = self._instead(names, " Give the weights these names to see which.")
        return f"{listed} is missing; {told}"

    def _missing(self, weight: Weight) -> str:
        size_in, size_out = weight.matrix.shape
        told = self._instead([weight.name], self._name_it(weight))
        return f"`{weight.name}` ({size_in} to {size_out} features) was not found; {told}"

    def _instead(self, names: Sequence[str], advice: str) -> str:
        """Return what there is instead of weights, and what to do: `advice` where they are not merely hidden."""
        found = ", ".join(f"{path} {tuple(p.shape)}" for path, p in self.parameters.items()) or "no parameters"
        known = {alias for name in names for alias in weight_names(name)}
        hidden = layouts.unregistered_tensor(self._inventory.distinct.values(), known)
        hidden = hidden or layouts.unregistered(self._inventory.module)
        return f"your module has: {found}.{hidden or advice}"

    def _name_it(self, weight: Weight) -> str:
        """Return how a projection or a table may be called; a weight with a path of its own needs no telling."""
        if weight.holding is Holding.EXACT:
            return ""
        others = ", ".join(weight_names(weight.name)[1:6])
        there = "Name it" if self.parameters else "It must be there in this case, as"
        return f" {there} `{weight.name}`, or one of {others}." if others else f" {there} `{weight.name}`, exactly."


def _clash(paths: list[str]) -> bool:
    """Return whether two paths claim to be the same head, or the only one."""
    return len({layouts.block_index(path) for path in paths}) < len(paths)
