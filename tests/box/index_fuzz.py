"""Calls torch's operators with numbers that lie outside of their tensors; those that go there end the process.

The calls are those of torch's own samples for its tests, and what these call in the dispatcher, backward passes too. In
each, one argument is changed: a whole number, or those in a tensor, are far too large or small. Every tensor lies
between pages that may not be touched, at the end or at the beginning of what lies between them. The samples hold no
sparse, nested or quantized tensors: operators on those are trapped as a whole.

NumPy changes the memory of a tensor without torch's knowledge. So each call whose arguments or results hold whole
numbers or booleans is made as well as it should be, they are changed then, and the gradient is asked for.

`python -m tests.box.index_fuzz --write` adds what it finds to `tests/golden/unchecked.txt`, as not looked at yet. That
list has some more, which go outside where a tensor is shorter or longer than the others.
"""

from __future__ import annotations

import ctypes
import itertools
import json
import mmap
import os
import resource
import signal
import sys
import tempfile
import types
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

GOLDEN = Path(__file__).parents[1] / "golden" / "unchecked.txt"
_SAMPLES, _TEMPLATES = 4, 1  # of an operator: calls that are recorded, and those that are changed
_DIFFERENTIATED = 8  # samples of a function whose numbers are changed before its gradient is asked for
_SECONDS = 0.2  # of processor time for one call; then it is passed over
_MOST = 4096  # bytes of a tensor
_FAR = (1 << 40, -30000)
_SKIPPED = ("linalg.", "fft.", "signal.", "ops.", "_", "nn.functional.scaled_dot_product_attention")
_BESIDE = ("linalg.lu_solve", "linalg.ldl_solve", "linalg.householder_product")
# What has no sample: by name, a call that is right, whose arguments are changed like those of the others.
_MORE: dict[str, tuple[Any, ...]] = {
    "aten::_convert_indices_from_coo_to_csr": (torch.tensor([0, 1]), 3),
    "aten::_convert_indices_from_csr_to_coo": (torch.tensor([0, 1, 2]), torch.tensor([1, 1])),
    "aten::_pad_packed_sequence": (torch.ones(3, 2), torch.tensor([2, 1]), True, 0.0, 2),
    "aten::_pack_padded_sequence": (torch.ones(2, 2, 2), torch.tensor([2, 1]), False),
    "aten::embedding_renorm_": (torch.ones(3, 4), torch.tensor([1, 2]), 1.0, 2.0),
    "aten::embedding_dense_backward": (torch.ones(2, 4), torch.tensor([1, 2]), 3, -1, False),
    "aten::lu_solve": (torch.ones(3, 1), torch.eye(3), torch.tensor([1, 2, 3], dtype=torch.int32)),
}

Call = tuple[str, Callable[..., Any], tuple[Any, dict[str, Any]]]


class _Recorder(TorchDispatchMode):
    """Keeps the arguments of every operator of the dispatcher."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        self.calls: dict[str, dict[str, Call]] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        keep(self.calls, func._name.removesuffix(".default"), func, (args, kwargs or {}))
        return func(*args, **(kwargs or {}))


def keep(calls: dict[str, dict[str, Call]], name: str, function: Callable[..., Any], given: Any) -> None:
    """Keep a call if it is unlike those of the same name, and small."""
    known = calls.setdefault(name, {})
    if len(known) < _TEMPLATES and (kind := str(_kind(given))) not in known and "unusual" not in kind:
        known[kind] = (name, function, _each(given, lambda tensor: tensor.detach().clone()))


def _kind(value: Any) -> Any:
    if isinstance(value, Tensor):
        plain = (
            type(value) in (Tensor, torch.nn.Parameter) and value.layout is torch.strided and value.device.type == "cpu"
        )
        small = plain and not value.is_quantized and value.numel() * value.element_size() <= _MOST
        return f"{value.dtype}{value.dim()}" if small else "unusual"
    if isinstance(value, list | tuple):
        return [_kind(part) for part in value[:3]]
    return {key: _kind(part) for key, part in value.items()} if isinstance(value, dict) else type(value).__name__


def _each(value: Any, change: Callable[[Tensor], Any]) -> Any:
    """Return the same arguments with other tensors."""
    if isinstance(value, Tensor):
        return change(value)
    if isinstance(value, list | tuple):
        return type(value)(_each(part, change) for part in value) if type(value) in (list, tuple) else list(value)
    return {key: _each(part, change) for key, part in value.items()} if isinstance(value, dict) else value


def templates() -> list[Call]:
    """Return calls of functions that students use, and of the operators below them."""
    beside = types.ModuleType("expecttest")  # torch's samples import it, and use nothing of it
    beside.TestCase = type("TestCase", (), {})  # type: ignore[attr-defined]
    sys.modules.setdefault("expecttest", beside)
    from torch.testing._internal.common_methods_invocations import op_db

    public: dict[str, dict[str, Call]] = {}
    recorder = _Recorder()
    for operator in op_db:
        if operator.name.startswith(_SKIPPED) and not operator.name.startswith(_BESIDE):
            continue
        for dtype in {torch.float32, torch.int64} & operator.dtypes:
            gradient = dtype.is_floating_point and operator.supports_autograd
            try:
                for sample in itertools.islice(operator.sample_inputs("cpu", dtype, requires_grad=gradient), _SAMPLES):
                    given = ((sample.input, *sample.args), dict(sample.kwargs))
                    keep(public, f"torch.{operator.name}", operator.op, given)
                    with recorder:
                        _sum(operator.op(*given[0], **given[1])).backward()
            except Exception:  # noqa: BLE001  # some samples need what is not here, some have no gradient
                continue
    for name, arguments in _MORE.items():
        space, _, plain = name.partition("::")
        keep(recorder.calls, name, getattr(getattr(torch.ops, space), plain).default, (arguments, {}))
    return [call for calls in (public, recorder.calls) for known in calls.values() for call in known.values()]


def later() -> list[Call]:
    """Return calls that go well, change numbers of their arguments or results, and then ask for the gradient."""
    from torch.testing._internal.common_methods_invocations import op_db

    found: list[Call] = list(_packed())
    for operator in op_db:
        if operator.supports_autograd and not operator.name.startswith(_SKIPPED):
            try:
                samples = operator.sample_inputs("cpu", torch.float32, requires_grad=True)
                for sample in itertools.islice(samples, _DIFFERENTIATED):
                    given = ((sample.input, *sample.args), dict(sample.kwargs))
                    if "unusual" not in str(_kind(given)) and (
                        numbers := _numbers((given, operator.op(*given[0], **given[1])))
                    ):
                        found += _changed_later(f"torch.{operator.name}", operator.op, given, len(numbers))
            except Exception:  # noqa: BLE001  # as in `templates`
                continue
    return found


def _packed() -> Iterator[Call]:
    """Yield what packs sequences, whose lengths are tensors that everybody can change."""
    rnn = torch.nn.utils.rnn
    x, lengths = torch.ones(3, 2, 2), torch.tensor([3, 2])

    def pack(x: Tensor) -> Any:
        return tuple(rnn.pack_padded_sequence(x, lengths))[:2]

    def recurrent(x: Tensor, net: torch.nn.Module) -> Any:
        packed = rnn.pack_padded_sequence(x, lengths)
        return (net(packed)[0].data, packed.batch_sizes)

    yield from _changed_later("torch.nn.utils.rnn.pack_padded_sequence", pack, ((x,), {}), 1)
    for net in (torch.nn.LSTM(2, 2), torch.nn.GRU(2, 2), torch.nn.RNN(2, 2)):
        name = f"torch.nn.{type(net).__name__} of packed sequences"
        yield from _changed_later(name, recurrent, ((x, net), {}), 1)


def _numbers(value: Any) -> list[Tensor]:
    """Return the tensors of whole numbers or booleans in a value."""
    if isinstance(value, Tensor):
        return [] if value.is_floating_point() or value.is_complex() or not value.numel() else [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return [tensor for part in parts for tensor in _numbers(part)]


def _changed_later(name: str, function: Callable[..., Any], given: Any, count: int) -> Iterator[Call]:
    """Yield a call for each of `count` tensors of numbers, and each other number in it."""
    for place, far in itertools.product(range(count), (*_FAR, 7)):

        def called(*arguments: Any, place: int = place, far: int = far, **options: Any) -> None:
            arguments = tuple(_each(part, _differentiated) for part in arguments)
            result = function(*arguments, **options)
            numbers = _numbers((arguments, options, result))[place].data  # the same memory, of another version
            numbers.fill_(min(far, torch.iinfo(numbers.dtype).max) if numbers.dtype != torch.bool else far)
            _sum(result).backward()

        yield name, called, _each(given, lambda tensor: tensor.detach().clone())


def _differentiated(tensor: Tensor) -> Tensor:
    return tensor.requires_grad_() if tensor.is_floating_point() else tensor


def _sum(result: Any) -> Tensor:
    parts = result if isinstance(result, list | tuple) else [result]
    return sum((part.sum().abs() for part in parts if part.requires_grad), torch.zeros(()))


class _Guarded:
    """Room between pages that may not be touched."""

    def __init__(self) -> None:
        system = ctypes.CDLL(None)
        system.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
        page, self._rooms, self._next = mmap.PAGESIZE, list[int](), 0
        self._memory = list[mmap.mmap]()  # so that none is given back
        for _ in range(16):
            room = mmap.mmap(-1, _MOST + 2 * page)
            start = ctypes.addressof(ctypes.c_char.from_buffer(room))
            for edge in (start, start + page + _MOST):
                system.mprotect(edge, page, 0)  # neither read nor write
            self._rooms.append(start + page)
            self._memory.append(room)

    def begin(self) -> None:
        self._next = 0

    def put(self, tensor: Tensor, at_end: bool) -> Tensor:
        """Return a copy that lies at one edge of a room."""
        size = tensor.numel() * tensor.element_size()
        if not 0 < size <= _MOST or self._next == len(self._rooms):
            return tensor.clone()
        start = self._rooms[self._next] + (_MOST - size if at_end else 0)
        self._next += 1
        memory = (ctypes.c_char * size).from_address(start)
        return torch.frombuffer(memory, dtype=tensor.dtype).view(tensor.shape).copy_(tensor)


def changes(value: Any) -> Iterator[Any]:
    """Yield the same arguments with one of them changed."""
    if isinstance(value, Tensor):
        yield from _tensors(value)
    elif type(value) is int:
        yield from _FAR
    elif isinstance(value, list | tuple):
        for at, part in enumerate(value):
            yield from (type(value)((*value[:at], other, *value[at + 1 :])) for other in changes(part))
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from ({**value, key: other} for other in changes(part))


def _tensors(value: Tensor) -> Iterator[Tensor]:
    if value.dtype in (torch.int64, torch.int32) and value.numel():
        limits = torch.iinfo(value.dtype)
        for far in (*_FAR, int(value.max()) + 1):
            if limits.min <= far <= limits.max:
                yield torch.full_like(value, far)
                (last := value.clone()).view(-1)[-1] = far
                yield last


def search(todo: list[Call]) -> dict[str, str]:
    """Return the names whose calls ended the process, with the signal; a process for as many as go well."""
    found: dict[str, str] = {}
    late: dict[str, int] = {}
    begin = 0
    with tempfile.TemporaryFile() as note:
        while begin < len(todo):
            child = os.fork()
            if child == 0:
                _try_on(todo, begin, note.fileno(), found.keys() | {name for name, count in late.items() if count > 2})
            _, status = os.waitpid(child, 0)
            begin = int.from_bytes(os.pread(note.fileno(), 8, 0), "little") + 1
            ended = os.WTERMSIG(status)
            if ended == signal.SIGVTALRM:
                late[todo[begin - 1][0]] = late.get(todo[begin - 1][0], 0) + 1
            elif ended and ended != signal.SIGFPE:  # a division by zero touches nothing
                found[todo[begin - 1][0]] = signal.Signals(ended).name
    return found


def _try_on(todo: list[Any], begin: int, note: int, skipped: set[str]) -> None:
    """Try call after call; note which one is next."""
    try:
        resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # where the C library says what it found
        guarded = _Guarded()
        for index in range(begin, len(todo)):
            name, function, (arguments, options) = todo[index]
            if name in skipped:
                continue
            os.pwrite(note, index.to_bytes(8, "little"), 0)
            at_end = index % 2 == 0
            signal.setitimer(signal.ITIMER_VIRTUAL, _SECONDS)
            guarded.begin()
            try:
                put = _each((arguments, options), lambda tensor, at_end=at_end: guarded.put(tensor, at_end))
                function(*put[0], **put[1])
            except Exception:  # noqa: BLE001  # as it should
                pass
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        os.pwrite(note, len(todo).to_bytes(8, "little"), 0)
    finally:
        os._exit(0)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    torch.manual_seed(0)
    every = templates()
    changed = [(name, function, given) for name, function, whole in every for given in changes(whole)]
    afterwards = later()
    unchecked = search(changed) | {f"gradient of {name}": end for name, end in search(afterwards).items()}
    if sys.argv[1:] == ["--write"]:
        lines = GOLDEN.read_text(encoding="utf-8").splitlines() if GOLDEN.exists() else []
        known = {line.split(": ")[0] for line in lines}
        lines += [f"{name}: not looked at yet" for name in unchecked if name not in known]
        text = "\n".join([f"# torch {torch.__version__}", *sorted(line for line in lines if not line.startswith("#"))])
        GOLDEN.write_text(f"{text}\n", encoding="utf-8")
    tried = {"tried": len({call[0] for call in every}), "later": len({call[0] for call in afterwards})}
    tried |= {"calls": len(changed) + len(afterwards)}
    print(json.dumps({"version": torch.__version__, **tried, "unchecked": unchecked}))
