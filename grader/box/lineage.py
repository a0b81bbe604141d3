"""Which lines of a submission the numbers of each tensor come from, told by its place in memory.

A view has the lines of what it looks at and its own; what is written into one shows in all that look at that memory.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from torch import Tensor, nn

from grader.box.frames import MOST_LINES

Lines = frozenset[int]
BEFORE = frozenset({0})  # what was there before the call, other than arguments and weights

_View = tuple[int, tuple[int, ...], tuple[int, ...]]


class Lineage:
    """The lines of the tensors that were noted so far."""

    def __init__(self, arguments: Collection[int]) -> None:
        """Take the memory of the arguments, which come from no line."""
        self._arguments = arguments
        self._memory: dict[int, Lines] = {}  # what made it, and all that was written there
        self._views: dict[int, dict[_View, Lines]] = {}  # by memory

    def of(self, values: Iterable[Tensor]) -> Lines:
        """Return the lines that tensors come from; 0 stands for what is no argument, no weight and no result."""
        return frozenset[int]().union(*(self._of(value) for value in values))

    def _of(self, value: Tensor) -> Lines:
        memory = memory_of(value)
        known = type(value) is nn.Parameter or memory in self._arguments or not value.dim()
        whole = self._memory.get(memory, frozenset[int]() if known else BEFORE)
        return self._views.get(memory, {}).get(_view(value), whole)

    def note(self, value: Tensor, lines: Lines, given: Iterable[Tensor]) -> bool:
        """Take the result of an operation on `given`; return whether its memory is new."""
        memory = memory_of(value)
        is_new = all(memory_of(other) != memory for other in given)
        if is_new:
            self._memory[memory], self._views[memory] = _bounded(lines), {}
        self._views.setdefault(memory, {})[_view(value)] = _bounded(lines)
        return is_new

    def write(self, value: Tensor, lines: Lines) -> None:
        """Take note that numbers that come from `lines` were written into a tensor."""
        memory = memory_of(value)
        views = self._views.setdefault(memory, {})
        whole = self._memory.get(memory, self._of(value))
        self._memory[memory] = _bounded(whole | lines)
        for view, before in views.items():
            views[view] = _bounded(before | lines)


def memory_of(value: Tensor) -> int:
    """Return where the numbers of a tensor lie."""
    return value.untyped_storage().data_ptr()


def _view(value: Tensor) -> _View:
    return int(value.storage_offset()), tuple(value.shape), value.stride()


def _bounded(lines: Lines) -> Lines:
    return lines if len(lines) <= MOST_LINES else BEFORE
