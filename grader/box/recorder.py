"""Keeps what each operation of a forward pass gave, at torch's dispatcher, with the student's line that asked for it.

Covered: floating-point tensors that a torch operation returns while a line of the submission is being run, copied at
once, since a later operation may change them in place; whether the operation draws random numbers; whether it writes
into an argument of the call; and, of a call with a backward pass, the gradient that comes back to the result. Bounded:
so many results, so many bytes in all; what would go beyond is left out, and what is smaller and comes later is kept.
Not covered: the operations of backward passes, which run outside of the block; gradients of views, which autograd makes
anew; numbers that NumPy or Python compute; anything in a process whose code does not want to be recorded. So what is
recorded is for a sentence in the report, and for no point.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from types import FrameType
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from grader.box.faults import SUBMISSION
from grader.box.frames import MOST_AXES, MOST_RESULTS, TRACE_LIMIT
from grader.box.observations import Traced
from grader.box.plan import DTYPES

_NoModes = torch._C.DisableTorchFunction  # taken here, since a submission may put another in its place
_DRAWS = torch.Tag.nondeterministic_seeded


class Recorder(TorchDispatchMode):
    """Keeps the results of the operations within its block, in their order."""

    def __init__(self, arguments: Iterable[Any] = (), *, gradients: bool = False) -> None:
        """Watch for writes into `arguments`, and with `gradients` for what comes back in a backward pass."""
        super().__init__()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        self._results: list[Traced] = []
        self._gradients: dict[int, Tensor] = {}
        self._left = TRACE_LIMIT  # bytes
        self._arguments = {_memory_of(value) for value in arguments if type(value) is Tensor}
        self._copies = 2 if gradients else 1
        self._pending: list[tuple[int, Tensor]] = []  # autograd takes note of a result when the operation has returned

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # the wrapper that it asks for imports all of torch._dynamo; see `measuring`

    def results(self) -> tuple[Traced, ...]:
        """Return what was kept, with the gradients that have come back so far."""
        return tuple(replace(kept, gradient=self._gradients.get(i)) for i, kept in enumerate(self._results))

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run the operation, and keep a copy of what it returns."""
        self._follow()
        result = func(*args, **kwargs) if kwargs else func(*args)
        if len(self._results) < MOST_RESULTS and (line := _line()) is not None:
            with _NoModes():
                writes = any(_memory_of(value) in self._arguments for value in _written(func, args, kwargs or {}))
                self._keep_all(line, result, random=_DRAWS in func.tags, writes=writes)
        return result

    def __exit__(self, *error: Any) -> None:
        self._follow()
        super().__exit__(*error)  # type: ignore[no-untyped-call]  # as above

    def _keep_all(self, line: int, result: Any, *, random: bool, writes: bool) -> None:
        for value in _tensors(result):
            if value.is_floating_point() or writes:
                self._keep(line, value, random=random, writes=writes)

    def _keep(self, line: int, value: Tensor, *, random: bool, writes: bool) -> None:
        size = value.numel() * torch.float64.itemsize * self._copies
        if not 0 < size <= self._left or len(self._results) >= MOST_RESULTS or value.dim() > MOST_AXES:
            return
        dtype = str(value.dtype).removeprefix("torch.")
        if dtype not in DTYPES:
            return
        self._left -= size
        if self._copies > 1:
            self._pending.append((len(self._results), value))
        self._results.append(Traced(line, _copy(value), dtype, random=random, writes=writes))

    def _follow(self) -> None:
        """Ask for the gradients of the results that autograd knows by now."""
        pending, self._pending = self._pending, []
        for index, value in pending:
            if value.requires_grad:
                value.register_hook(partial(self._came_back, index, value.shape))  # type: ignore[no-untyped-call]

    def _came_back(self, index: int, shape: torch.Size, gradient: Tensor) -> None:
        if type(gradient) is Tensor and gradient.shape == shape:
            self._gradients[index] = _copy(gradient)


def _copy(value: Tensor) -> Tensor:
    return value.detach().to("cpu", torch.float64, copy=True).resolve_neg().contiguous()


def _memory_of(value: Tensor) -> int:
    return value.untyped_storage().data_ptr()


def _written(func: Any, args: Any, kwargs: Any) -> Iterator[Tensor]:
    """Yield the plain tensors that an operation writes into."""
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


def _line() -> int | None:
    """Return the innermost line of the submission that is being run."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        if frame.f_code.co_filename == SUBMISSION:
            return frame.f_lineno
        frame = frame.f_back
    return None
