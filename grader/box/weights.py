"""Gives the student's module the contract's weights, whatever it calls them and however it lays them out.

A canonical projection is a matrix (in, out) with an optional bias (out,). It is looked for as

- `nn.Linear`: weight (out, in);
- `nn.Parameter`: (in, out), transposed only where its shape forces that, or (heads, in, out / heads);
- one module or parameter per head, `heads.0.W_query`, `W_query.0`: block i is head i;
- a slice of one fused projection, `qkv`: query, key, value along the output, along a first axis, or in a list;
- any of these inside a module of the student's own, `query.linear`.

Every layout comes down to pieces: a view of a parameter that shows some columns of the canonical matrix. The same
view that the weight is written through reads its gradient.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from grader.box import layouts
from grader.box.aliases import FUSED, bias_names, fused_bias_names, known_words, weight_names
from grader.box.layouts import Piece, stem
from grader.box.plan import Weight
from grader.errors import Ungradable


@dataclass(frozen=True, slots=True)
class Binding:
    """Where each canonical tensor (`W_query`, `W_query.bias`) lives in a module.

    `zeroed` are biases that the contract does not have, set to zero; `unused` are parameters it does not know.
    """

    pieces: Mapping[str, tuple[Piece, ...]]
    zeroed: tuple[str, ...]
    unused: tuple[str, ...]

    def describe(self) -> dict[str, str]:
        """Return canonical name to place, in words."""
        return {
            name: ", ".join(piece.path + (f" ({piece.note})" if piece.note else "") for piece in pieces)
            for name, pieces in self.pieces.items()
        }

    def gradient(self, name: str, shape: tuple[int, ...]) -> Tensor | None:
        """Return the gradient of canonical tensor `name`, None where any piece of it has none."""
        grads = [piece.parameter.grad for piece in self.pieces[name]]
        if any(grad is None for grad in grads):
            return None
        whole = next(grad for grad in grads if grad is not None).new_empty(shape)
        for piece, grad in zip(self.pieces[name], grads, strict=True):
            assert grad is not None
            whole[..., piece.start : piece.stop] = piece.view(grad)
        return whole


def bind(module: nn.Module, weights: tuple[Weight, ...]) -> Binding:
    """Find every weight in `module` and copy the contract's values in.

    Raises:
        Ungradable: a weight cannot be found, is ambiguous, or has a shape that fits no layout.
    """
    finder = _Finder(module, weights)
    pieces: dict[str, tuple[Piece, ...]] = {}
    superfluous: list[Piece] = []
    for weight in weights:
        pieces[weight.name] = finder.matrix(weight)
        bias = finder.bias(weight, pieces[weight.name])
        if weight.bias is None:
            superfluous += bias
        elif bias:
            pieces[f"{weight.name}.bias"] = bias
        else:
            raise Ungradable(_biasless(weight, pieces[weight.name]))
    _write(pieces, weights)
    _zero(superfluous)
    known = {id(piece.parameter) for found in (*pieces.values(), superfluous) for piece in found}
    rest = ((path, parameter) for path, parameter in finder.parameters.items() if id(parameter) not in known)
    unused = tuple(f"{path} {tuple(parameter.shape)}" for path, parameter in rest)
    return Binding(pieces, tuple(dict.fromkeys(piece.path for piece in superfluous)), unused)


def _write(pieces: Mapping[str, tuple[Piece, ...]], weights: tuple[Weight, ...]) -> None:
    values = {weight.name: weight.matrix for weight in weights}
    values |= {f"{weight.name}.bias": weight.bias for weight in weights if weight.bias is not None}
    with torch.no_grad():
        for name, found in pieces.items():
            for piece in found:
                piece.view(piece.parameter).copy_(values[name][..., piece.start : piece.stop])


def _zero(pieces: list[Piece]) -> None:
    with torch.no_grad():
        for piece in pieces:
            piece.view(piece.parameter).zero_()


def _biasless(weight: Weight, matrix: tuple[Piece, ...]) -> str:
    return (
        f"`{weight.name}` must have a bias in this case, and none was found beside {matrix[0].path}; "
        "make its layer with `bias=True`, or with your constructor's bias argument where the contract has one"
    )


class _Finder:
    """Looks weights up by stem: the last name of a path that says what a parameter is."""

    def __init__(self, module: nn.Module, weights: tuple[Weight, ...]) -> None:
        self.parameters: dict[str, Tensor] = dict(module.named_parameters(remove_duplicate=False))
        self._linear = {name for name, part in module.named_modules() if isinstance(part, nn.Linear)}
        self._weights = {weight.name: weight for weight in weights}
        self._hint = layouts.unregistered(module)
        self._words = known_words(tuple(self._weights))
        self._stems: dict[tuple[str, str | None], list[str]] = {}
        for path in self.parameters:
            for leaf in ("weight", "bias"):
                self._stems.setdefault((leaf, stem(path, leaf, self._words)), []).append(path)
        for path, parameter in self.parameters.items():
            if nn.parameter.is_lazy(parameter):
                raise Ungradable(f"`{path}` has no shape yet; give its layer the input's width instead of a lazy one")

    def matrix(self, weight: Weight) -> tuple[Piece, ...]:
        """Return the pieces that hold the matrix of `weight`."""
        dims = (1, 2, 3) if weight.matrix.shape[1] == 1 else (2, 3)
        for name in weight_names(weight.name):
            if paths := self._paths(name, "weight", dims):
                return self._pieces(weight, paths)
        if (fused := self._fused(weight)) is not None:
            return fused
        raise Ungradable(self._missing(weight))

    def bias(self, weight: Weight, matrix: tuple[Piece, ...]) -> tuple[Piece, ...]:
        """Return the pieces that hold the bias of `weight`: beside its matrix, or under a name of its own; or none."""
        beside = [layouts.bias_path(piece.path) for piece in matrix]
        if all(path in self.parameters for path in beside):
            offsets = [self._fused_offset(weight, piece) // len(matrix) for piece in matrix]
            return tuple(
                self._part(path, offset, piece) for path, offset, piece in zip(beside, offsets, matrix, strict=True)
            )
        own = [(name, (1, 2, 3)) for name in bias_names(weight.name) if ("bias", name) in self._stems]
        shared = [(name, (1,)) for name in weight_names(weight.name) if ("bias", name) in self._stems]
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
        found = [path for path in self._stems.get((leaf, name), ()) if self.parameters[path].dim() in dims]
        if len(found) < 2:  # by far the most: every customary name is asked for
            return found
        if _clash(found):  # one parameter may be registered in two places
            found = list({id(self.parameters[path]): path for path in reversed(found)}.values())
        if _clash(found):
            raise Ungradable(f"`{name}` is there more than once: {', '.join(reversed(found))}; keep one of each")
        return sorted(found, key=lambda path: layouts.block_index(path) or 0)

    def _all(self, names: tuple[str, ...], leaf: str) -> list[str]:
        return [path for name in names for path in self._stems.get((leaf, name), ())]

    def _pieces(self, weight: Weight, paths: list[str]) -> tuple[Piece, ...]:
        size_in, size_out = weight.matrix.shape
        width = size_out // len(paths)
        if width * len(paths) != size_out:
            raise Ungradable(f"`{weight.name}` has {size_out} columns, which {len(paths)} parts cannot share equally")
        pieces: list[Piece] = []
        for number, path in enumerate(paths):
            pieces += self._layout(weight, path, (size_in, width), number * width)
        return tuple(pieces)

    def _layout(self, weight: Weight, path: str, shape: tuple[int, int], start: int) -> list[Piece]:
        parameter, (size_in, width) = self.parameters[path], shape
        found, linear = tuple(parameter.shape), self._is_linear(path)
        if found == (width, size_in) and (linear or size_in != width):
            return [Piece(path, parameter, layouts.transposed, start, start + width, "" if linear else "transposed")]
        if found == (size_in, width) and not linear:
            return [Piece(path, parameter, layouts.as_is, start, start + width)]
        if found == (size_in,) and width == 1:
            return [Piece(path, parameter, layouts.column, start, start + 1)]
        heads = weight.heads
        if found == (heads, size_in, width // max(heads, 1)):
            step = width // heads
            return [
                Piece(path, parameter, layouts.head(i), i * step, (i + 1) * step, f"head {i}") for i in range(heads)
            ]
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
        for members, names in FUSED:
            if weight.name in members and all(member in self._weights for member in members):
                paths = self._all(names if leaf == "weight" else fused_bias_names(names), leaf)
                if paths and not _clash(paths):
                    yield members, sorted(paths, key=lambda path: layouts.block_index(path) or 0)

    def _fused_piece(self, weight: Weight, members: tuple[str, ...], path: str, *, part: tuple[int, int]) -> Piece:
        number, parts = part  # which head's, of how many
        size_in, width = weight.matrix.shape[0], weight.matrix.shape[1] // parts
        total = sum(self._weights[name].matrix.shape[1] for name in members) // parts
        offset, start = self._offset(weight, members) // parts, number * width
        parameter, linear = self.parameters[path], self._is_linear(path) or path.endswith("in_proj_weight")
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

    def _is_linear(self, path: str) -> bool:
        return path.rpartition(".")[0] in self._linear

    def _missing(self, weight: Weight) -> str:
        found = ", ".join(f"{path} {tuple(p.shape)}" for path, p in self.parameters.items()) or "no parameters"
        size_in, size_out = weight.matrix.shape
        return (
            f"`{weight.name}` ({size_in} to {size_out} features) was not found in your module; it holds: {found}. "
            f"Name it `{weight.name}`, or one of {', '.join(weight_names(weight.name)[1:6])}.{self._hint}"
        )


def _clash(paths: list[str]) -> bool:
    """Return whether two paths claim to be the same head, or the only one."""
    return len({layouts.block_index(path) for path in paths}) < len(paths)
