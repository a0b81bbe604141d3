"""Keeps what each operation of a forward pass gave, at torch's dispatcher, with the student's line that asked for it.

Covered: floating-point tensors that a torch operation returns while a line of the submission is being run, copied at
once, since a later operation may change them in place; whether the operation draws random numbers; whether it writes
into an argument of the call; the lines of all operations that it is computed from; and, of a call with a backward pass,
the gradient that comes back to the result, and whether the result passes none on.
Bounded: so many results, so many bytes in all; what would go beyond is left out, and what is smaller and comes later is
kept. Of one call in torch's own code only the last results are.
Not covered: the operations of backward passes, which run outside of the block; gradients of views, which autograd makes
anew; numbers that NumPy or Python compute; anything in a process whose code does not want to be recorded. So what is
recorded is for a sentence in the report, and for no point.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from functools import partial
from types import FrameType
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from grader.box.faults import SUBMISSION
from grader.box.observations import MOST_AXES, MOST_LINES, MOST_RESULTS, TRACE_LIMIT, Traced
from grader.box.plan import DTYPES

_NoModes = torch._C.DisableTorchFunction  # taken here, since a submission may put another in its place
_DRAWS = torch.Tag.nondeterministic_seeded
_MOST_IN_CALL = 20  # results of the operations of one call of torch
_DETACH = torch.ops.aten.detach.default
_SHAPE_ALONE = re.compile(r"::new_|_like$")  # operations that take from a tensor its shape and not its numbers
Lines = frozenset[int]
BEFORE = frozenset({0})  # what was there before the call, other than arguments and weights

_View = tuple[int, tuple[int, ...], tuple[int, ...]]


class Recorder(TorchDispatchMode):
    """Keeps the results of the operations within its block, in their order."""

    def __init__(self, arguments: Iterable[Any] = (), *, gradients: bool = False) -> None:
        """Watch for writes into `arguments`, and with `gradients` for what comes back in a backward pass."""
        super().__init__()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        self._results: dict[int, Traced] = {}  # by when they came
        self._came = 0  # results so far
        self._call: tuple[FrameType, int] | None = None  # the frame and the instruction of the operation before
        self._in_call: list[int] = []  # which results that one call of torch gave
        self._gradients: dict[int, Tensor] = {}
        self._left = TRACE_LIMIT  # bytes
        self._arguments = {memory_of(value) for value in arguments if type(value) is Tensor}
        self._copies = 2 if gradients else 1
        self._pending: list[tuple[int, Tensor, bool]] = []  # of which autograd takes note when an operation returns
        self._lineage = Lineage(self._arguments)
        self._needing: set[int] = set()  # the memory of what needs a gradient
        self._detached: dict[int, int] = {}  # by object: which result it is
        self._cuts: set[int] = set()  # results that pass no gradient on

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # the wrapper that it asks for imports all of torch._dynamo; see `measuring`

    def results(self) -> tuple[Traced, ...]:
        """Return what was kept, with the gradients that have come back so far."""
        return tuple(
            replace(kept, gradient=self._gradients.get(i), cuts=i in self._cuts) for i, kept in self._results.items()
        )

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self._follow()
        kwargs = kwargs or {}
        line, caller = _lines() if len(self._results) < MOST_RESULTS else (0, 0)
        if not line:
            return func(*args, **kwargs)
        self._enter(sys._getframe(1))
        with _NoModes():
            given = [value for part in (*args, *kwargs.values()) for value in _tensors(part)]
            if _SHAPE_ALONE.search(func._schema.name):
                given = []
            written = list(_written(func, args, kwargs))
            lines, needs = self._lineage.of(given) | {line}, self._needs(given)
            if _is_from_python(given, written):
                lines |= BEFORE
        result = func(*args, **kwargs)
        with _NoModes():
            for value in written:
                self._lineage.write(value, lines)
            for value in _tensors(result) if not written else ():
                if self._lineage.note(value, lines, given):
                    self._needing.discard(memory_of(value))
            writes = any(memory_of(value) in self._arguments for value in written)
            for value in (one for one in _tensors(result) if one.is_floating_point() or writes):
                came = self._lineage.of([value])
                self._note_cuts(given)
                drawn = _DRAWS in func.tags
                self._keep(func, value, Traced(line, value, "", drawn, writes, lines=came, caller=caller), needs)
        return result

    def _enter(self, frame: FrameType) -> None:
        """Take note of which call in torch's own code the operation belongs to: an LSTM's has hundreds of them."""
        is_ours = frame.f_code.co_filename == SUBMISSION
        if is_ours or self._call is None or self._call[0] is not frame or self._call[1] != frame.f_lasti:
            self._call, self._in_call = None if is_ours else (frame, frame.f_lasti), []

    def _needs(self, given: Iterable[Tensor]) -> bool:
        """Return whether a gradient should pass from a result to one of `given`."""
        needing = {memory_of(value) for value in given if value.requires_grad}
        self._needing |= needing
        return bool(needing)

    def _note_cuts(self, given: Iterable[Tensor]) -> None:
        """Note which of the tensors that numbers are computed from were detached; what is only compared may be."""
        for value in given:
            if not value.requires_grad and memory_of(value) in self._needing and id(value) in self._detached:
                self._cuts.add(self._detached[id(value)])

    def __exit__(self, *error: Any) -> None:
        self._follow()
        self._call = None
        super().__exit__(*error)  # type: ignore[no-untyped-call]  # as above

    def _keep(self, func: Any, value: Tensor, traced: Traced, needs: bool) -> None:
        """Keep a copy of what an operation gave; of the operations of one call in torch's own code the last ones."""
        size = value.numel() * torch.float64.itemsize * self._copies
        dtype = str(value.dtype).removeprefix("torch.")
        if not 0 < size <= self._left or value.dim() > MOST_AXES or dtype not in DTYPES:
            return
        if len(self._in_call) >= _MOST_IN_CALL:
            gone = self._results.pop(self._in_call.pop(0))
            self._left += gone.values.numel() * torch.float64.itemsize * self._copies
        if len(self._results) >= MOST_RESULTS:
            return
        self._left -= size
        self._came += 1
        self._in_call.append(self._came)
        if self._copies > 1:
            self._pending.append((self._came, value, needs))
        if func is _DETACH:
            self._detached[id(value)] = self._came
        self._results[self._came] = replace(traced, values=_copy(value), dtype=dtype)

    def _follow(self) -> None:
        """Ask for the gradients of the results that autograd knows by now."""
        pending, self._pending = self._pending, []
        for index, value, needs in pending:
            if value.requires_grad:
                value.register_hook(partial(self._came_back, index, value.shape))  # type: ignore[no-untyped-call]
            elif needs and index not in self._detached.values():
                self._cuts.add(index)  # torch itself detaches as well: what uses it counts

    def _came_back(self, index: int, shape: torch.Size, gradient: Tensor) -> None:
        if type(gradient) is Tensor and gradient.shape == shape:
            self._gradients[index] = _copy(gradient)


def _is_from_python(given: Iterable[Tensor], written: list[Tensor]) -> bool:
    """Return whether a number is written into a part of a tensor: both it and the place were computed by Python."""
    parts = (one.numel() * one.element_size() < one.untyped_storage().nbytes() for one in written)
    return any(parts) and all(not one.dim() or any(one is other for other in written) for one in given)


def _copy(value: Tensor) -> Tensor:
    return value.detach().to("cpu", torch.float64, copy=True).resolve_neg().contiguous()


def _written(func: Any, args: Any, kwargs: Any) -> Iterator[Tensor]:
    if func._schema.is_mutable:
        for position, argument in enumerate(func._schema.arguments):
            value = args[position] if position < len(args) else kwargs.get(argument.name)
            if argument.alias_info is not None and argument.alias_info.is_write:
                yield from _tensors(value)


def _tensors(result: Any) -> Iterator[Tensor]:
    """Yield the plain tensors in what an operation returned; a subclass may lie about its own."""
    for value in result if isinstance(result, tuple | list) else (result,):
        if type(value) in (Tensor, nn.Parameter) and value.layout is torch.strided and _is_readable(value):
            yield value


def _is_readable(value: Tensor) -> bool:
    """Return whether a tensor has numbers: not nested, not on `meta`, its storage not freed."""
    if value.is_nested or value.device.type not in ("cpu", "cuda"):
        return False
    steps = zip(value.shape, value.stride(), strict=True)
    last = value.storage_offset() + sum((size - 1) * step for size, step in steps)
    return (last + 1) * value.element_size() <= value.untyped_storage().nbytes()


def _lines() -> tuple[int, int]:
    """Return the innermost line of the submission that is being run, and the one that called its function; 0: none."""
    found: list[int] = []
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and len(found) < 2:
        if frame.f_code.co_filename == SUBMISSION and frame.f_lineno not in found:
            found.append(frame.f_lineno)
        frame = frame.f_back
    found += [0, 0]
    return found[0], found[1]


class Lineage:
    """Which lines of a submission the numbers of each tensor come from, told by its place in memory.

    A view has the lines of what it looks at and its own; what is written into one shows in all that look there.
    """

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
