"""Keeps what each operation of a forward pass gave, at torch's dispatcher, with the student's line that asked for it.

Covered: floating-point tensors that a torch operation returns while a line of the submission is being run, copied at
once, since a later operation may change them in place. Bounded: so many results, so many bytes in all; what would go
beyond is left out, and what is smaller and comes later is still kept.
Not covered: backward passes, which run outside of the block; numbers that NumPy or Python compute; anything in a
process whose code does not want to be recorded. So what is recorded is for a sentence in the report, and for no point.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from grader.box.faults import SUBMISSION
from grader.box.frames import MOST_AXES, MOST_RESULTS, TRACE_LIMIT
from grader.box.observations import Traced

_NoModes = torch._C.DisableTorchFunction  # taken here, since a submission may put another in its place


class Recorder(TorchDispatchMode):
    """Keeps the results of the operations within its block, in their order.

    Attributes:
        results: those so far.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        self.results: list[Traced] = []
        self._left = TRACE_LIMIT  # bytes

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # the wrapper that it asks for imports all of torch._dynamo; see `measuring`

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run the operation, and keep a copy of what it returns."""
        result = func(*args, **kwargs) if kwargs else func(*args)
        if len(self.results) < MOST_RESULTS and (line := _line()) is not None:
            with _NoModes():
                for value in _tensors(result):
                    self._keep(line, value)
        return result

    def _keep(self, line: int, value: Tensor) -> None:
        size = value.numel() * torch.float64.itemsize
        if not 0 < size <= self._left or len(self.results) >= MOST_RESULTS or value.dim() > MOST_AXES:
            return
        self._left -= size
        values = value.detach().to("cpu", torch.float64, copy=True).resolve_neg()
        self.results.append(Traced(line, values.contiguous()))


def _tensors(result: Any) -> Iterator[Tensor]:
    """Yield the plain tensors of real numbers in what an operation returned; a subclass may lie about its own."""
    for value in result if isinstance(result, tuple | list) else (result,):
        if type(value) in (Tensor, nn.Parameter) and value.layout is torch.strided and value.is_floating_point():
            yield value


def _line() -> int | None:
    """Return the innermost line of the submission that is being run."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        if frame.f_code.co_filename == SUBMISSION:
            return frame.f_lineno
        frame = frame.f_back
    return None
