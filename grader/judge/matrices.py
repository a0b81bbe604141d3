"""Cuts outputs into matrices that can be drawn: one example of the batch, one matrix for each head."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from grader.judge.report import Cells, Heatmap, Matrix, Pane, Role

LARGEST = 24  # rows or columns that can still be read
MOST = 8  # matrices of one picture
_CELLS = 2400  # of all matrices of one picture; a report stays small
_UNSEEN = ("batch", "...")  # leading axes of which one index is drawn; the others, heads and layers, are all

_WORDS = ("row", "column")  # what axes without a name are called


@dataclass(frozen=True, slots=True, eq=False)
class Stack:
    """The matrices of one output, (examples, panes, rows, columns): the student's, the expected, and what is wrong."""

    yours: Tensor
    expected: Tensor
    wrong: Tensor
    names: tuple[str, ...]
    rows: str
    columns: str

    def shown(self) -> Stack:
        """Return the one example that is drawn: the one with the most wrong cells, the first if there are none."""
        one = int(self.wrong.flatten(1).sum(dim=1).argmax())
        parts = (self.yours, self.expected, self.wrong)
        yours, expected, wrong = (tensor[one : one + 1] for tensor in parts)
        return replace(self, yours=yours, expected=expected, wrong=wrong)


def matrix_size(shape: Sequence[int], axes: Sequence[str]) -> tuple[int, int] | None:
    """Return the rows and columns of the matrices that are drawn of tensors of a shape; None if there are none."""
    kept = [size for size, axis in zip(shape, _spelled(axes, len(shape)), strict=True) if axis != "1"]
    return (kept[-2], kept[-1]) if len(kept) > 1 and all(shape) else None


def cells_drawn(rows: int, columns: int) -> int:
    """Return how many cells of one matrix are drawn."""
    return min(rows, LARGEST) * min(columns, LARGEST)


def stacked(three: tuple[Tensor, ...], axes: Sequence[str]) -> Stack:
    """Return three tensors of one shape as stacks of matrices; `matrix_size` says that there are some.

    Args:
        three: the student's, the reference's, and bools that say what is wrong.
        axes: the names of their axes; `...` stands for as many as are left.
    """
    yours = three[0]
    named = _spelled(axes, yours.dim())
    kept = [place for place, axis in enumerate(named) if axis != "1"]
    examples = [place for place in kept[:-2] if named[place] in _UNSEEN]
    panes = [place for place in kept[:-2] if named[place] not in _UNSEEN]
    order = (*examples, *panes, *kept[-2:])
    shape = (-1, _product(yours, panes), *(yours.shape[place] for place in kept[-2:]))
    flat = [tensor.squeeze(_ones(named)).permute(_ranks(order)).reshape(shape) for tensor in three]
    names = _names([(named[place], yours.shape[place]) for place in panes])
    rows, columns = (named[place].replace("...", word) for place, word in zip(kept[-2:], _WORDS, strict=True))
    return Stack(flat[0], flat[1], flat[2], names, rows, columns)


def heatmap(stack: Stack, role: Role, title: str, note: str) -> Heatmap:
    """Return the picture of the one example of a stack."""
    fitting = max(1, min(MOST, _CELLS // cells_drawn(*stack.yours.shape[-2:])))
    panes = [
        Pane(name, rounded(yours), rounded(expected), cells(wrong))
        for name, yours, expected, wrong in zip(
            stack.names[:fitting], stack.yours[0], stack.expected[0], stack.wrong[0], strict=False
        )
    ]
    first, *others = _some(panes, role)
    return Heatmap(
        role=role,
        title=title,
        rows=stack.rows,
        columns=stack.columns,
        values=first.values,
        expected=first.expected,
        wrong=first.wrong,
        note=_cut(note, stack),
        name=first.name if others else "",
        panes=tuple(others),
    )


def rounded(matrix: Tensor) -> Matrix:
    """Return the upper left corner of a matrix with four digits a cell."""
    corner = matrix[:LARGEST, :LARGEST].double()
    return tuple(tuple(float(f"{value:.4g}") for value in row) for row in corner.tolist())


def cells(wrong: Tensor) -> Cells:
    """Return the places of a bool matrix that are True, as far as they are drawn."""
    return tuple((row, column) for row, column in wrong[:LARGEST, :LARGEST].nonzero().tolist())


def _some(panes: list[Pane], role: Role) -> list[Pane]:
    """Return the first pane only where the others would show the same: who sees whom, and every head is right."""
    return panes[:1] if role == "influence" and not any(pane.wrong for pane in panes) else panes


def _cut(note: str, stack: Stack) -> str:
    rows, columns = stack.yours.shape[-2:]
    if max(rows, columns) <= LARGEST:
        return note
    return f"{note}; showing {min(rows, LARGEST)} of {rows} rows and {min(columns, LARGEST)} of {columns} columns"


def _spelled(axes: Sequence[str], dims: int) -> list[str]:
    """Return a name for each axis of a tensor of `dims` axes."""
    named: list[str] = []
    for axis in axes:
        named += ["..."] * (dims - len(axes) + 1) if axis == "..." else [axis]
    return named


def _ones(named: list[str]) -> tuple[int, ...]:
    return tuple(place for place, axis in enumerate(named) if axis == "1")


def _ranks(order: tuple[int, ...]) -> tuple[int, ...]:
    """Return `order` with its numbers replaced by 0, 1, 2, … in their order: what is left after a squeeze."""
    return tuple(sorted(order).index(place) for place in order)


def _product(tensor: Tensor, places: list[int]) -> int:
    return int(torch.tensor([tensor.shape[place] for place in places]).prod()) if places else 1


def _names(axes: list[tuple[str, int]]) -> tuple[str, ...]:
    """Return `layer 0, head 1` and so on for every index of the axes, the last one fastest."""
    names = [""]
    for axis, size in axes:
        one = axis.removeprefix("num_").removesuffix("s")
        names = [f"{name}, {one} {index}".removeprefix(", ") for name in names for index in range(size)]
    return tuple(names)
