"""Measures the largest tensor of a forward pass, at torch's dispatcher, below the student's code.

Covered: every tensor that a torch operation returns, each counted by the storage behind it, and what happens inside of
custom autograd functions, `vmap`, checkpoints and scripts. An input or an output counts like any other tensor once an
operation returns it or a view of it, so a bound has to lie above them. In a process that runs one submission, what
Python and NumPy allocate meanwhile is covered too, all of it together: arrays, lists, bytes.
Not covered: many tensors that are small each (autograd keeps every tile of a right answer, too), what one operation
needs inside of its own kernel, lists of TorchScript's, and other threads; only the process's peak shows them. Code in
this process can undo anything in this process; a gauge that was taken away notices, one that was put back does not.
"""

from __future__ import annotations

import _tracemalloc
import tracemalloc
from collections.abc import Iterator
from types import TracebackType
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode, _pop_mode, _push_mode

from grader.box.pristine import pristine

_COMPRESSED_ROWS = (torch.sparse_csr, torch.sparse_bsr)
_COMPRESSED_COLUMNS = (torch.sparse_csc, torch.sparse_bsc)


_SMALL = 512  # bytes; Python allocates its own small objects apart up to this size, and tensors are such
_LEFT = 640  # bytes that one operation may leave behind in small blocks; a loop that keeps all its tensors leaves 400
_NUMPYS = 389047  # the number by which NumPy tells its memory from Python's
# Taken here, since to call some of them is trapped in a process that runs a submission.
_start, _stop, _tracing = tracemalloc.start, tracemalloc.stop, tracemalloc.is_tracing
_memory, _reset_peak, _traces = tracemalloc.get_traced_memory, tracemalloc.reset_peak, _tracemalloc._get_traces
# And these, since a submission may put others in their place.
_storage, _element_size = torch._C.TensorBase.untyped_storage, torch._C.TensorBase.element_size
_nbytes = torch._C.StorageBase.nbytes  # type: ignore[attr-defined]  # torch's stubs leave it out
_layout = torch._C.TensorBase.layout.__get__  # type: ignore[attr-defined]  # a property, which the stubs do not say
_STRIDED, _NoModes = torch.strided, torch._C.DisableTorchFunction


class Gauge(TorchDispatchMode):
    """Notes the largest storage, in elements, among what every operation within its block returns.

    What was allocated outside of torch counts where it has room for as many elements as are forbidden; below that it is
    mostly Python's own.

    Attributes:
        largest: that number so far; None once the block has ended and the gauge was no longer in place.
    """

    def __init__(self, outside: int | None = None) -> None:
        """Look at torch alone, or at memory outside of torch as well if it comes to `outside` elements."""
        super().__init__()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        self._outside = _Outside(outside) if outside is not None else None
        self.largest: int | None = 0
        self._so_far = 0

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return (
            False  # the wrapper that it asks for imports all of torch._dynamo, two seconds, and slows every operation
        )

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run the operation, and look at what it returns."""
        result = func(*args, **kwargs) if kwargs else func(*args)
        if self._outside is not None:
            self._outside.look()
        with _NoModes():
            for value in _tensors(result):
                if (size := elements(value)) > self._so_far:
                    self._so_far = self.largest = size
        return result

    def __enter__(self) -> Gauge:
        """Begin."""
        if self._outside is not None:
            self._outside.begin()
        super().__enter__()  # type: ignore[no-untyped-call]  # as above
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the block; modes that were left behind above this one go with it."""
        if self._outside is not None and self.largest is not None:
            self.largest = self._outside.end(self.largest)
        while (top := _get_current_dispatch_mode()) is not None and top is not self:
            _pop_mode()
        if top is None:
            self.largest = None
            _push_mode(self)
        super().__exit__(kind, error, trace)  # type: ignore[no-untyped-call]  # as above


class _Outside:
    """The memory that Python and NumPy allocate between a beginning and an end, whatever they hold in it.

    Python's own objects for hundreds of tensors take as much as a table does. So of what is held over operations of
    torch, small blocks count less what so many operations may leave behind; NumPy's and large ones count whole, and so
    does all that comes and goes between two operations.
    """

    def __init__(self, most: int) -> None:
        """Count from `most` elements on."""
        self._most = most
        self._width = torch.get_default_dtype().itemsize  # bytes of an element
        self._held = 0  # bytes, the most so far
        self._looks = 0

    def begin(self) -> None:
        """Start to trace; something is allocated that is known to be traced at the end."""
        _start(1)
        self._mark = bytearray(64)
        self._before, _ = _memory()
        self._counted = self._before

    def look(self) -> None:
        """Take note of what was allocated since the last time."""
        self._looks += 1
        now, peak = _memory()
        self._held = max(self._held, peak - self._before)
        if now - self._counted >= self._most * self._width:
            self._held = max(self._held, self._count())
            self._counted = now
            now, _ = _memory()
        _reset_peak()
        self._before = now

    def _count(self) -> int:
        """Return the bytes that are held now, without Python's own."""
        blocks = [(size, size > _SMALL or domain == _NUMPYS) for domain, size, *_ in _traces()]
        small = sum(size for size, counts in blocks if not counts)
        return sum(size for size, counts in blocks if counts) + max(0, small - _LEFT * self._looks)

    def end(self, largest: int) -> int | None:
        """Return `largest`, or what was held here at once if that is more; None if traces were thrown away."""
        if not _tracing():
            return None
        kept = tracemalloc.get_object_traceback(self._mark) is not None
        self.look()
        _stop()
        held = self._held // self._width
        return max(largest, held if held >= self._most else 0) if kept else None


def _tensors(result: Any) -> Iterator[Tensor]:
    """Yield the tensors in what an operation returned: one, or some in tuples and lists."""
    if isinstance(result, Tensor):
        yield result
    elif isinstance(result, tuple | list):
        for part in result:
            yield from _tensors(part)


def elements(value: Tensor) -> int:
    """Return how many elements the storage behind a tensor has room for: all of them where it is a small view."""
    if _layout(value) is _STRIDED:
        return int(_nbytes(_storage(value)) // _element_size(value))
    with pristine():
        return _elements_of_parts(value)


def _elements_of_parts(value: Tensor) -> int:
    """Return the same for a tensor that has no storage of its own."""
    if value.layout == torch.sparse_coo:
        parts = [value._indices(), value._values()]
    elif value.layout in _COMPRESSED_ROWS:
        parts = [value.crow_indices(), value.col_indices(), value.values()]
    elif value.layout in _COMPRESSED_COLUMNS:
        parts = [value.ccol_indices(), value.row_indices(), value.values()]
    else:  # a nested one, or one laid out for a library: it has no storage to ask
        return value.numel()
    return max(elements(part) for part in parts)
