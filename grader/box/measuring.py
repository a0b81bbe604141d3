"""Measures the largest tensor of a forward pass, at torch's dispatcher, below the student's code.

Covered: every tensor that a torch operation returns, each counted by the storage behind it, and what happens inside of
custom autograd functions, `vmap`, checkpoints and scripts. An input or an output counts like any other tensor once an
operation returns it or a view of it, so a bound has to lie above them. In a process that runs one submission, what
Python and NumPy allocate meanwhile is covered too, all of it together: arrays, lists, bytes. So is memory that was
there before and that the code writes to, such as an array made while the file was loaded.
Not covered: memory from before that holds again what it held whenever it is looked at; many tensors that are small each
(autograd keeps every tile of a right answer, too), what one operation needs inside of its own kernel, lists of
TorchScript's, and other threads; only the process's peak shows them. Code in this process can undo anything in this
process; a gauge that was taken away notices, one that was put back does not.
"""

from __future__ import annotations

import _tracemalloc
import gc
import io
import time
import tracemalloc
from collections.abc import Iterator
from types import TracebackType
from typing import Any

import numpy
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
_NoDispatch = torch._C._DisableTorchDispatch
_version = torch._C.TensorBase._version.__get__  # type: ignore[attr-defined]  # as the layout above
_is_complex = torch._C.TensorBase.is_complex
_is_inference, _empty = torch._C.TensorBase.is_inference, torch.empty
_set, _numpy = torch._C.TensorBase.set_, torch._C.TensorBase.numpy
_Array, _ravel, _frombuffer, _bytes = numpy.ndarray, numpy.ndarray.ravel, numpy.frombuffer, numpy.uint8
_Storage, _clock = torch.UntypedStorage, time.perf_counter_ns
_Drawing, _Generator = numpy.random.Generator, numpy.random.PCG64
_all_objects, _referents, _is_tracked = gc.get_objects, gc.get_referents, gc.is_tracked
_ROW = 256  # bytes; smaller pieces of memory are not looked at
_REST = 20  # times as long as it takes to compare all samples, they are left alone
_SAMPLES = 64  # bytes that are compared of each piece of memory, and of each part of it that could hold a table


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
        return False  # the wrapper asked for imports all of torch._dynamo, two seconds, and slows every operation

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **kwargs) if kwargs else func(*args)
        if self._outside is not None:
            self._outside.look()
        with _NoModes():
            for value in _tensors(result):
                if (size := elements(value)) > self._so_far:
                    self._so_far = self.largest = size
        return result

    def __enter__(self) -> Gauge:
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
        self._most = most
        self._width = torch.get_default_dtype().itemsize  # bytes of an element
        self._held = 0  # bytes, the most so far
        self._looks = 0
        self._kept = _Kept()

    def begin(self) -> None:
        """Start to trace; something is allocated that is known to be traced at the end."""
        self._kept.begin(self._most * self._width)
        _start(1)
        self._mark = bytearray(64)
        self._before, _ = _memory()
        self._counted = self._before

    def look(self) -> None:
        """Take note of what was allocated since the last time."""
        self._looks += 1
        self._kept.look()
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
        self._kept.look(again=False)
        _stop()
        held = (self._held + self._kept.written()) // self._width
        return max(largest, held if held >= self._most else 0) if kept else None


class _Kept:
    """The memory that was there before a call, and how much of it the call writes to.

    Constants that were made while a file was loaded do not count. What is used as room to work in does, each piece of
    memory whole; but not a tensor that torch has written to, which the gauge has seen.
    """

    def __init__(self) -> None:
        self._pieces: list[_Piece] = []
        self._changed: list[_Piece] = []
        self._next = 0  # nanoseconds; not before then are they compared once more

    def begin(self, least: int) -> None:
        """Remember all pieces, if they come to `least` bytes together."""
        views, places = ((owner, _view(owner)) for owner in owners()), _Drawing(_Generator(_clock()))
        sizes = {
            view.__array_interface__["data"][0]: (owner, view.size)
            for owner, view in views
            if view is not None and view.size >= _ROW
        }
        if sum(size for _, size in sizes.values()) >= least:
            self._pieces = [
                _Piece(owner, size, places.integers(size, size=_SAMPLES + _SAMPLES * size // least))
                for owner, size in sizes.values()
            ]

    def look(self, *, again: bool = True) -> None:
        """Take note of the pieces that have changed since the beginning; `again` only if that slows nothing down."""
        if self._pieces and not (again and _clock() < self._next):
            began = _clock()
            self._changed += (changed := [piece for piece in self._pieces if piece.has_changed()])
            self._pieces = [piece for piece in self._pieces if piece not in changed]
            self._next = _clock() + _REST * (_clock() - began)

    def written(self) -> int:
        """Return the bytes of all pieces that have changed; torch says that it did so once its operation has ended."""
        return sum(piece.size for piece in self._changed if not piece.was_written_by_torch())


class _Piece:
    """What holds a piece of memory, and samples of what was in it. No view is kept: it would forbid to resize it."""

    def __init__(self, owner: Any, size: int, places: Any) -> None:
        self._owner, self.size, self._places = owner, size, places
        self._version = self._version_now()
        self._before = self._samples()

    def has_changed(self) -> bool:
        return self._samples() != self._before

    def was_written_by_torch(self) -> bool:
        return self._version_now() != self._version

    def _version_now(self) -> int:
        return _version(self._owner) if isinstance(self._owner, Tensor) and not _is_inference(self._owner) else 0

    def _samples(self) -> bytes:
        view = _view(self._owner)
        return view[self._places].tobytes() if view is not None and view.size == self.size else b""


def owners() -> list[Any]:
    """Return what holds memory, and is referred to by an object that this process has made since it was forked.

    Where a submission runs, only this code may ask for all objects: `grader.box.traps.internals` knows it.
    """
    found: dict[int, Any] = {}
    kinds: dict[type, bool] = {}
    waiting: list[Any] = _all_objects()
    waiting += _referents(*waiting)
    while waiting:
        inner = []
        for thing in waiting:
            if (kind := type(thing)) not in kinds:
                kinds[kind] = _has_memory(thing)
            if kinds[kind] and id(thing) not in found:
                found[id(thing)] = thing
                inner += _objects_in(thing)
            elif kind in (tuple, dict) and not _is_tracked(thing):  # the collector leaves out what holds only arrays
                inner += _referents(thing)
        waiting = inner
    return list(found.values())


def _objects_in(thing: Any) -> list[Any]:
    """Return the objects that an array of NumPy's holds; none of what holds bytes or numbers."""
    return thing.ravel().tolist() if isinstance(thing, _Array) and thing.dtype.hasobject else []


def _has_memory(thing: Any) -> bool:
    """Return whether objects of this kind hold memory that could be written to."""
    if issubclass(type(thing), (Tensor, _Storage, _Array, io.BytesIO)):  # `isinstance` would run code of the object
        return True
    try:
        return not memoryview(thing).readonly
    except TypeError:
        return False
    except ValueError:  # a view that was released
        return True


def _view(owner: Any) -> Any:
    """Return the bytes that an object holds, as an array of NumPy; None where there are none to be seen."""
    try:
        if isinstance(owner, Tensor | _Storage):
            with _NoModes(), _NoDispatch():
                storage = owner if isinstance(owner, _Storage) else _storage(owner)
                return _numpy(_set(_empty(0, dtype=torch.uint8), storage))
        if isinstance(owner, _Array):
            while isinstance(owner.base, _Array):
                owner = owner.base
            return None if owner.dtype.hasobject else _ravel(owner, "K").view(_bytes)
        return _frombuffer(owner.getbuffer() if isinstance(owner, io.BytesIO) else owner, _bytes)
    except (TypeError, ValueError, RuntimeError, NotImplementedError):  # sparse, meta, scattered, released, empty
        return None


def _tensors(result: Any) -> Iterator[Tensor]:
    """Yield the tensors in what an operation returned: one, or some in tuples and lists."""
    if isinstance(result, Tensor):
        yield result
    elif isinstance(result, tuple | list):
        for part in result:
            yield from _tensors(part)


def elements(value: Tensor) -> int:
    """Return how many elements the storage behind a tensor has room for: all of them where it is a small view.

    A complex one counts as the two numbers that it is.
    """
    if _layout(value) is _STRIDED:
        return int(_nbytes(_storage(value)) * (1 + _is_complex(value)) // _element_size(value))
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
