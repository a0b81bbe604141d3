"""The gauge: whatever way a large tensor is made, its storage is seen; and a right way of working stays small."""

from __future__ import annotations

import array
import collections
import ctypes
import decimal
import gc
import io
import struct
import time
import tracemalloc
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes, _pop_mode
from torch.utils.checkpoint import checkpoint

from grader.box.measuring import Gauge, elements, owners
from tests.box.small import numbers

pytestmark = pytest.mark.filterwarnings("ignore:Sparse")  # torch calls its sparse layouts a beta

T, D = 60, 4
X = numbers(T, D)


@pytest.fixture(autouse=True)
def forked() -> Iterator[None]:
    """Have the collector know only of what is made from here on, as in a process that was forked."""
    gc.freeze()
    yield
    gc.unfreeze()


def largest(work: Callable[[], Any]) -> int | None:
    """Return what the gauge notes while `work` runs."""
    with Gauge() as gauge:
        work()
    found: int | None = gauge.largest
    return found


class _Square(torch.autograd.Function):
    """Holds a table in its forward pass and none of it afterwards."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return torch.softmax(x @ x.mT, dim=-1) @ x

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> Tensor:
        return upstream


def _in_place() -> Tensor:
    table = torch.empty(T * T, dtype=torch.float64)
    return table[:3].mul_(0.0)


def _stacked() -> Tensor:
    return torch.stack([X @ row for row in X])[0]


def _shared_storage() -> Tensor:
    return torch.zeros(0, dtype=torch.float64).resize_(T, T)[:1]


_TABLES: dict[str, Callable[[], object]] = {
    "a product": lambda: X @ X.mT,
    "a mask of booleans": lambda: torch.ones(T, T, dtype=torch.bool).tril(),
    "positions compared": lambda: torch.arange(T)[:, None] <= torch.arange(T),
    "whole numbers": lambda: torch.arange(T)[:, None] - torch.arange(T),
    "an einsum of three, which multiplies the first two": lambda: torch.einsum("id,jd,je->ie", X, X, X),
    "an einsum over a batch, which becomes a bmm": lambda: torch.einsum("bid,bjd->bij", X[None], X[None]),
    "two numbers in a complex one": lambda: torch.complex(X, X) @ torch.complex(X[: T // 2], X[T // 2 :]).mT,
    "rows stacked at the end": _stacked,
    "a small view of something large": lambda: torch.zeros(T, T)[:1, :1],
    "a write into a part of something large": _in_place,
    "a storage that grows": _shared_storage,
    "a function of one's own": lambda: _Square.apply(X.clone().requires_grad_()),  # type: ignore[no-untyped-call]
    "a checkpoint": lambda: checkpoint(lambda x: (x @ x.mT) @ x, X.clone().requires_grad_(), use_reentrant=False),
    "a vmap over the rows": lambda: torch.vmap(lambda row: (X @ row).softmax(0))(X),
    "a gradient taken on the way": lambda: torch.func.grad(lambda x: (x @ x.mT).sum())(X),
    "inference mode": torch.inference_mode()(lambda: X @ X.mT),
    "a list of lists": lambda: torch.tensor([[0.0] * T] * T),
    "NumPy's memory, once torch looks at it": lambda: torch.from_numpy((X @ X.mT).numpy() + 1)[:1],
    "a dense copy of something sparse": lambda: torch.eye(T).to_sparse().to_dense(),
}


@pytest.mark.parametrize("work", _TABLES.values(), ids=_TABLES.keys())
def test_a_table_is_seen(work: Callable[[], object]) -> None:
    """It is T x T elements, neither more nor less."""
    assert largest(work) == T * T


_SMALL: dict[str, tuple[Callable[[], object], int]] = {
    "nothing at all": (lambda: None, 0),
    "an expanded number": (lambda: torch.zeros(1).expand(T, T), 1),
    "windows are views of the padded keys": (lambda: F.pad(X, (0, 0, 3, 3)).unfold(0, 7, 1), (T + 6) * D),
    "an input that is looked at": (lambda: X.mT, T * D),
    "an input that is written to": (lambda: X.clone().mul_(2.0), T * D),
    "rows one by one": (lambda: [(X @ row).softmax(0) @ X for row in X], T * D),
    "rows in stretches": (lambda: [(X[i : i + 10] @ X.mT).softmax(-1) @ X for i in range(0, T, 10)], 10 * T),
    "tiles": (lambda: [(X[i : i + 5] @ X[:6].mT).exp() for i in range(0, T, 5)], T * D),
    "sums up to each position": (lambda: (X[:, :, None] * X[:, None, :]).cumsum(0), T * D * D),
    "something sparse": (lambda: torch.sparse_coo_tensor(torch.arange(8).view(2, 4), torch.ones(4), (T, T)), 8),
    "rows that are sparse": (lambda: torch.eye(7).to_sparse_csr(), 49),
    "a tuple": (lambda: X.split(7), T * D),
}


@pytest.mark.parametrize(("work", "size"), _SMALL.values(), ids=_SMALL.keys())
def test_what_is_small_is_seen_as_it_is(work: Callable[[], object], size: int) -> None:
    """Views count with their storage, and nothing counts twice."""
    assert largest(work) == size


_SPARSE = {
    "coordinates": lambda table: table.to_sparse(),
    "rows": lambda table: table.to_sparse_csr(),
    "columns": lambda table: table.to_sparse_csc(),
    "blocks by row": lambda table: table.to_sparse_bsr((2, 2)),
    "blocks by column": lambda table: table.to_sparse_bsc((2, 2)),
}


@pytest.mark.parametrize("layout", _SPARSE.values(), ids=_SPARSE.keys())
def test_a_sparse_tensor_counts_with_its_largest_part(layout: Callable[[Tensor], Tensor]) -> None:
    """Twenty entries on the diagonal of 20 x 20: two indices each, or whole blocks of four."""
    assert 20 <= elements(layout(torch.eye(20))) <= 40


def test_a_tensor_without_a_storage_counts_with_its_elements() -> None:
    """One laid out for a library of its own cannot be asked for a storage."""
    assert elements(torch.ones(3, 5).to_mkldnn()) == 15


N = 90  # rows that are longer than the blocks in which Python keeps its small objects
Y = numbers(N, D)


def _numbers() -> list[float]:
    return [float(position) for position in range(N * N)]


_OUTSIDE: dict[str, Callable[[], object]] = {
    "an array of NumPy": lambda: Y.numpy() @ Y.numpy().T,
    "an array of arrays": lambda: [Y.numpy() @ row for row in Y.numpy()],
    "an array that is freed again": lambda: (Y.numpy() @ Y.numpy().T) @ Y.numpy(),
    "a part of a larger array": lambda: np.zeros((N, N))[:1, :1],
    "an array on its own memory": lambda: np.frombuffer(bytearray(N * N * 8)).reshape(N, N),
    "an array of objects": lambda: np.array(_numbers(), dtype=object),
    "an array of fields": lambda: np.zeros(N, dtype=[("row", np.float64, N)]),
    "an array of masked numbers": lambda: np.ma.ones((N, N)),
    "an array cut into small tiles": lambda: [
        Y.numpy()[row : row + 6] @ Y.numpy()[column : column + 6].T
        for row in range(0, N, 6)
        for column in range(0, N, 6)
    ],
    "lists of a few numbers": lambda: [part.tolist() for row in Y for part in (Y @ row).split(30)],
    "an outer product": lambda: np.add.outer(Y.numpy()[:, 0], Y.numpy()[:, 0]),
    "an einsum": lambda: np.einsum("id,jd->ij", Y.numpy(), Y.numpy()),
    "a list of lists": lambda: [[float(i * j) for j in range(N)] for i in range(N)],
    "a list from a tensor's rows": lambda: [(Y @ row).tolist() for row in Y],
    "a tuple": lambda: tuple(_numbers()),
    "a table by pairs": lambda: {(i, j): 0.0 for i in range(N) for j in range(N)},
    "a set": lambda: set(_numbers()),
    "a queue": lambda: collections.deque(_numbers()),
    "a typed array": lambda: array.array("d", bytes(N * N * 8)),
    "bytes": lambda: b"".join(row.numpy().tobytes() * N for row in Y[:, :1]),
    "bytes that are written to": lambda: bytearray(N * N * 8),
    "a file in memory": lambda: io.BytesIO(bytes(N * N * 8)),
    "packed numbers": lambda: struct.pack(f"{N * N}d", *_numbers()),
    "text": lambda: " ".join(map(str, _numbers())),
    "objects with attributes": lambda: [types.SimpleNamespace(weight=number) for number in _numbers()],
    "closures": lambda: [(lambda number=number: number) for number in _numbers()],
    "numbers of any length": lambda: [decimal.Decimal(number) for number in _numbers()],
    "an exception's arguments": lambda: ValueError(*_numbers()),
}


@pytest.mark.parametrize("work", _OUTSIDE.values(), ids=_OUTSIDE.keys())
def test_a_table_outside_of_torch_is_seen_where_one_submission_runs(work: Callable[[], object]) -> None:
    """Whatever it is held in, as soon as there is room for T x T numbers; nobody else's memory is looked at."""
    with Gauge(outside=N * N) as gauge:
        work()

    assert gauge.largest is not None
    assert gauge.largest >= N * N
    assert (largest(work) or 0) < N * N


_NUMBERS = numbers(N, N).numpy()
_BYTES = _NUMBERS.tobytes()


def _rows(kept: Iterable[Any]) -> None:
    for row, found in zip(kept, _NUMBERS, strict=True):
        row[:] = found


def _put(kept: Any) -> None:
    kept[...] = _NUMBERS


def _put_bytes(kept: Any) -> None:
    memoryview(kept).cast("B")[:] = _BYTES


def _locked() -> Any:
    table = np.zeros((N, N))
    table.flags.writeable = False
    return table


def _unlock(kept: Any) -> None:
    kept.flags.writeable = True
    _put(kept)


def _zeros() -> Tensor:
    return torch.zeros(N, N, dtype=torch.float64)


# How memory for a table is made before a call, and how the call fills it; operations of torch see nothing of that.
_BEFORE: dict[str, tuple[Callable[[], Any], Callable[[Any], object]]] = {
    "an array": (lambda: np.zeros((N, N)), lambda kept: np.matmul(Y.numpy(), Y.numpy().T, out=kept)),
    "an array in columns": (lambda: np.zeros((N, N), order="F"), _put),
    "an array that is read-only before": (_locked, _unlock),
    "a view of an array": (lambda: np.zeros((N + 1, N))[1:].T, _put),
    "a triangle": (lambda: np.zeros((N, N)), lambda kept: np.copyto(kept, np.tri(N), where=np.tri(N, dtype=bool))),
    "an array of small numbers": (lambda: np.zeros((8 * N, N), np.int8), lambda kept: kept.fill(1)),
    "a corner": (lambda: np.zeros((20 * N, 20 * N)), lambda kept: _put(kept[:N, :N])),
    "rows": (lambda: [np.zeros(N) for _ in range(N)], _rows),
    "rows in a tuple": (lambda: tuple(np.zeros(N) for _ in range(N)), _rows),
    "rows in an array": (
        lambda: np.array([np.zeros(N + n) for n in range(N)], object),
        lambda kept: [row.fill(1.0) for row in kept],
    ),
    "an array of fields": (lambda: np.zeros(N, [("row", float, N)]), lambda kept: _put(kept["row"])),
    "an array of masked numbers": (lambda: np.ma.zeros((N, N)), lambda kept: _put(kept.data)),
    "an array in a closure": (lambda: (lambda kept: lambda: kept)(np.zeros((N, N))), lambda kept: _put(kept())),
    "an array in an object": (
        lambda: types.SimpleNamespace(table=np.zeros((N, N))),
        lambda kept: _put(kept.table),
    ),
    "an array in a generator": (lambda: (row for row in np.zeros((N, N))), lambda kept: _rows(kept)),
    "bytes that are written to": (lambda: bytearray(N * N * 8), _put_bytes),
    "a view of bytes": (lambda: memoryview(bytearray(N * N * 8)), _put_bytes),
    "a typed array": (lambda: array.array("d", bytes(N * N * 8)), _put_bytes),
    "a file in memory": (lambda: io.BytesIO(bytes(N * N * 8)), lambda kept: kept.write(_BYTES)),
    "an array of C": (lambda: (ctypes.c_double * (N * N))(), _put_bytes),
    "a tensor": (_zeros, lambda kept: _put(kept.numpy())),
    "a tensor by NumPy": (lambda: _zeros().numpy(), _put),
    "a tensor on an array": (lambda: torch.from_numpy(np.zeros((N, N))), lambda kept: _put(kept.numpy())),
    "a parameter": (lambda: nn.Parameter(_zeros()), lambda kept: kept.untyped_storage().fill_(1)),
    "a storage": (lambda: torch.UntypedStorage(N * N * 8).fill_(0), lambda kept: kept.fill_(1)),
    "a list": (lambda: [0.0] * (N * N), lambda kept: kept.__setitem__(slice(None), _NUMBERS.ravel().tolist())),
    "a list of lists": (
        lambda: [[0.0] * N for _ in range(N)],
        lambda kept: [row.__setitem__(slice(None), found.tolist()) for row, found in zip(kept, _NUMBERS, strict=True)],
    ),
}


def test_a_search_for_memory_runs_no_code_of_the_objects() -> None:
    """An object that says to be of another class is not asked; some of torch's warn when they are."""
    asked = []

    class Other:
        @property
        def __class__(self) -> type:
            asked.append(self)
            return torch.Tensor

    kept = Other()
    assert not any(owner is kept for owner in owners())
    assert not asked


@pytest.mark.parametrize(("make", "fill"), _BEFORE.values(), ids=_BEFORE.keys())
def test_a_table_in_memory_from_before_is_seen(make: Callable[[], Any], fill: Callable[[Any], object]) -> None:
    """A file that was loaded has made room for it; in the call it is only filled."""
    submission = types.ModuleType("submission")
    submission.kept = make()  # type: ignore[attr-defined]  # where a file leaves its names

    with Gauge(outside=N * N) as gauge:
        fill(submission.kept)

    assert gauge.largest is not None
    assert gauge.largest >= N * N


def test_constants_and_little_room_from_before_do_not_count() -> None:
    """Large tables that are read, and a tile to work in, each made while a file was loaded."""
    submission = types.SimpleNamespace(
        positions=np.ones((9 * N, N)), mask=np.tri(2 * N, dtype=bool), tile=np.zeros((9, N)), text=bytes(N * N * 8)
    )

    with Gauge(outside=N * N) as gauge:
        for start in range(0, N, 9):
            np.matmul(Y.numpy()[start : start + 9], Y.numpy().T, out=submission.tile)
            submission.tile *= submission.mask[start : start + 9, :N]
        assert submission.positions.sum() > len(submission.text) == N * N * 8

    assert gauge.largest == N * D


def test_memory_that_torch_writes_to_counts_as_any_tensor() -> None:
    """Two caches that are filled in place are two tensors, not one table."""
    caches = [torch.zeros(N, N - 1) for _ in range(2)]

    with Gauge(outside=N * N) as gauge:
        for cache in caches:
            cache.fill_(1.0)

    assert gauge.largest == N * (N - 1)


def test_room_that_is_emptied_before_torch_is_used_again_is_not_seen() -> None:
    """A limit that is known: memory from before is looked at now and then, and at the end."""
    submission = types.SimpleNamespace(kept=np.zeros((N, N)))

    with Gauge(outside=N * N) as gauge:
        _put(submission.kept)
        submission.kept.fill(0.0)

    assert gauge.largest == 0


def test_little_memory_outside_of_torch_does_not_count() -> None:
    """Tiles in NumPy, and what Python itself needs for thousands of tensors, which is more than a table has."""
    with Gauge(outside=N * N) as gauge:
        for start in range(0, N, 9):
            Y.numpy()[start : start + 9] @ Y.numpy().T
        _rows = [(Y @ row).softmax(0) @ Y for _ in range(9) for row in Y]

    assert gauge.largest == N * D


def test_a_table_as_many_small_tensors_is_not_seen() -> None:
    """A limit that is meant: autograd keeps every tile of a right answer as well, so all together are not counted."""
    with Gauge(outside=N * N) as gauge:
        _rows = [Y @ row for row in Y]

    assert gauge.largest == N * D


def test_many_small_tensors_hide_no_table() -> None:
    """What Python needs for them is not taken off from what a table needs."""
    with Gauge(outside=N * N) as gauge:
        _many = [Y[0] + number for number in range(900)]
        table = [(Y @ row).tolist() for row in Y]
        _more = [Y[0] + number for number in range(len(table))]

    assert gauge.largest is not None
    assert gauge.largest >= N * N


@pytest.mark.parametrize("end", [tracemalloc.stop, tracemalloc.clear_traces])
def test_traces_that_were_thrown_away_say_so(end: Callable[[], None]) -> None:
    """As with a gauge that was taken away; in the sandbox the functions that do it are trapped."""
    with Gauge(outside=N * N) as gauge:
        np.zeros((N, N))
        end()

    assert gauge.largest is None
    assert not tracemalloc.is_tracing()


def test_what_happens_outside_of_the_block_does_not_count() -> None:
    """Neither before nor after."""
    before = X @ X.mT
    with Gauge() as gauge:
        X.sum()
    torch.equal(before, X @ X.mT)

    assert gauge.largest == 1


def test_an_exception_leaves_what_was_seen() -> None:
    """And the mode is gone afterwards."""
    gauge = Gauge()

    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"), gauge:
        (X @ X.mT) @ X.mT

    assert gauge.largest == T * T
    assert largest(lambda: X.sum()) == 1


def test_results_are_those_without_a_gauge() -> None:
    """Values, gradients and the kind of tensor are the same."""
    plain, watched = (X.clone().requires_grad_() for _ in range(2))

    expected = torch.softmax(plain @ plain.mT, -1) @ plain
    with Gauge():
        found = torch.softmax(watched @ watched.mT, -1) @ watched
    expected.sum().backward()
    found.sum().backward()

    assert type(found) is Tensor
    assert torch.equal(found, expected)
    assert plain.grad is not None
    assert watched.grad is not None
    assert torch.equal(watched.grad, plain.grad)


class _Other(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch leaves its registration untyped
    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


def test_a_mode_of_ones_own_hides_nothing() -> None:
    """What it does reaches the gauge below it."""

    def work() -> None:
        with _Other():
            X @ X.mT

    assert largest(work) == T * T


def test_a_mode_left_behind_goes_with_the_gauge() -> None:
    """What comes later runs without either."""
    _leave_behind = _Other()

    assert largest(lambda: _leave_behind.__enter__()) == 0
    assert largest(lambda: X @ X.mT) == T * T


def test_a_gauge_that_was_taken_away_says_so() -> None:
    """Nothing is known then, which is not the same as nothing large."""

    def work() -> None:
        _pop_mode()
        X @ X.mT

    assert largest(work) is None
    assert largest(lambda: X @ X.mT) == T * T


def test_code_that_puts_the_gauge_back_is_not_found_out() -> None:
    """A limit that is known: whoever shares a process with the gauge can look away for it.

    The process's size, seen from outside, is shown beside the curve for that reason.
    """

    def work() -> None:
        with _disable_current_modes():
            X @ X.mT

    assert largest(work) == 0


def test_looking_costs_some_microseconds_an_operation() -> None:
    """A loop over five hundred rows is measured in well under a second; nothing large is imported at the first use."""

    def work() -> None:
        for row in X.repeat(9, 1):
            (X[:7] @ row).softmax(0) @ X[:7]

    started = time.process_time()
    largest(work)

    assert time.process_time() - started < 1.0
