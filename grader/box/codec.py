"""How a job, a plan and a source text, travels into the sandbox: a text in JSON, then the numbers of its tensors.

    length u64 | text, padded with blanks | the numbers     (little endian)

In the text a dataclass of the plan is the list of its fields; those at the end that have their defaults are left out.
The numbers lie in groups of tensors of one dtype and shape, one group after the other, each from a multiple of 8 bytes
on. A tensor is `[group, place in it]`, a function `{"function": "<name>"}`, a `TensorSpec` its number in the list
`slots`, since many calls share one. What is read follows from the types of the fields, so a field that is added to a
plan needs no line here. Only our own side writes this: the child reads it, and answers with frames.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from enum import Enum
from functools import cache
from operator import attrgetter
from typing import Any, get_args, get_origin, get_type_hints

import torch
from torch import Tensor

from grader.box import traps
from grader.box.plan import DTYPES, Function, Plan, TensorSpec
from grader.box.rows import row_of

Json = Any  # what json.loads gives; checked by the constructors it is handed to
Group = list[Any]  # dtype, shape, and how many tensors of these there are

_LENGTH = struct.Struct("<Q")
_ALIGNMENT = 8  # bytes, of the widest dtype
_NAMES = {dtype: name for name, dtype in DTYPES.items()}


@dataclass(frozen=True, slots=True)
class Job:
    """What a child reads: a plan, the submission, and the source of those modules of ours that the plan needs."""

    plan: Plan
    source: str
    modules: Mapping[str, str]


def encode_job(plan: Plan, source: str, modules: Mapping[str, str] | None = None) -> bytes:
    """Return the bytes of a job; `modules` are those that travel with it, see `grader.box.drivers`.

    Raises:
        AuthorError: the plan forbids a group of operations that there is not.
    """
    traps.check(plan.forbidden)
    writer = _Writer()
    whole = {"source": source, "modules": modules or {}, "plan": plan, "slots": writer.slots, "groups": writer.groups}
    # The two lists come last, since it is by writing the plan that they are filled.
    text = json.dumps(whole, default=writer.write, check_circular=False)
    text = text.ljust(len(text) + _missing(len(text)))
    return b"".join([_LENGTH.pack(len(text)), text.encode("ascii"), *writer.numbers()])


class _Writer:
    """Says how each part of a plan is written, and keeps what is written once and referred to by number."""

    def __init__(self) -> None:
        self.slots: list[Json] = []
        self.groups: list[Group] = []
        self._numbers: dict[int, int] = {}  # of the slots, by their identity; the plan keeps them alive
        self._members: dict[tuple[torch.dtype, torch.Size], tuple[int, list[Tensor]]] = {}

    def write(self, value: Any) -> Json:
        """Return what `json` can write in the place of `value`."""
        if isinstance(value, Tensor):
            return self._tensor(value)
        if isinstance(value, TensorSpec):
            return self._slot(value)
        if isinstance(value, Function):
            return {"function": value.name}
        return _row(value) if is_dataclass(value) else dict(value)

    def numbers(self) -> Iterator[memoryview | bytes]:
        """Yield the bytes of all tensors that were written, group by group."""
        for _, members in self._members.values():
            raw = torch.stack(members).detach().reshape(-1).view(torch.uint8).numpy()
            yield raw.data
            yield bytes(_missing(raw.size))

    def _tensor(self, tensor: Tensor) -> Json:
        kind = tensor.dtype, tensor.shape
        if kind not in self._members:
            self._members[kind] = len(self.groups), []
            self.groups.append([_NAMES[tensor.dtype], tensor.shape, 0])
        number, members = self._members[kind]
        members.append(tensor)
        self.groups[number][2] += 1
        return number, len(members) - 1

    def _slot(self, slot: TensorSpec) -> Json:
        number = self._numbers.get(id(slot))
        if number is None:
            number = self._numbers[id(slot)] = len(self.slots)
            self.slots.append(_row(slot))
        return number


def _row(value: Any) -> list[Any]:
    """Return the fields of a dataclass up to the last that has not its default."""
    kind: Any = type(value)
    read, defaults = _columns(kind)
    row = list(read(value))
    while row and row[-1] is defaults[len(row) - 1]:
        row.pop()
    return row


@cache
def _columns(kind: Any) -> tuple[Callable[[Any], tuple[Any, ...]], list[Any]]:
    """Return what reads all fields of a dataclass, which has two or more, and their defaults."""
    names = [field.name for field in fields(kind)]
    return attrgetter(*names), [_default(field) for field in fields(kind)]


def _default(field: Field[Any]) -> Any:
    return field.default if field.default is not MISSING else object()  # which no value is


def _missing(size: int) -> int:
    """Return how many bytes there are to the next multiple of the alignment."""
    return -size % _ALIGNMENT


def decode_job(blob: bytes) -> tuple[Plan, str]:
    """Return the plan and the source of a job."""
    job = open_job(bytearray(blob))
    return job.plan, job.source


def open_job(blob: bytearray) -> Job:
    """Return all that is in a job; its tensors lie in the memory of `blob`, each in a place of its own."""
    start = _LENGTH.size + _LENGTH.unpack_from(blob)[0]
    whole = json.loads(str(memoryview(blob)[_LENGTH.size : start], "ascii"))
    slots = [TensorSpec(key, tuple(axes), tuple(shape), *dtype) for key, axes, shape, *dtype in whole["slots"]]
    plan: Plan = _plan_reader()(whole["plan"], _Parts(list(_groups(whole["groups"], blob, start)), slots))
    return Job(plan, whole["source"], whole["modules"])


@dataclass(frozen=True, slots=True)
class _Parts:
    """What the text of a plan refers to by number."""

    groups: list[list[Tensor]]
    slots: list[TensorSpec]


def _groups(groups: list[Group], blob: bytearray, start: int) -> Iterator[list[Tensor]]:
    """Yield the tensors of each group; the first one's numbers lie in `blob` from `start` on."""
    for name, shape, members in groups:
        dtype, row = DTYPES[name], row_of((tuple(shape),) * members)
        numbers = (
            torch.frombuffer(blob, dtype=dtype, offset=start, count=row.size)
            if row.size
            else torch.empty(0, dtype=dtype)
        )
        yield row.cut(numbers)
        size = row.size * dtype.itemsize
        start += size + _missing(size)


Read = Callable[[Json, _Parts], Any]


@cache
def _plan_reader() -> Read:
    return _instance(Plan)


@cache
def _reader(kind: Any) -> Read | None:
    """Return what reads a value of a type that a plan has; None where it is what JSON gives."""
    origin, inner = get_origin(kind), get_args(kind)
    if kind == tuple[Tensor | None, ...]:
        return _gradients
    if origin is tuple:  # always of one type and of any length
        return _each(_reader(inner[0]))
    if origin is Mapping:
        return _values(_reader(inner[1]))
    if kind is Tensor or Tensor in inner:
        return _argument
    if kind is TensorSpec:
        return lambda data, parts: parts.slots[data]
    if is_dataclass(kind):
        return _instance(kind)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return lambda data, parts: kind(data)
    return None


def _each(item: Read | None) -> Read:
    if item is None:
        return lambda data, parts: tuple(data)
    return lambda data, parts: tuple([item(one, parts) for one in data])


def _values(value: Read | None) -> Read | None:
    if value is None:
        return None
    return lambda data, parts: {name: value(one, parts) for name, one in data.items()}


def _instance(kind: Any) -> Read:
    hints = get_type_hints(kind)
    readers = [_reader(hints[field.name]) for field in fields(kind)]
    return lambda data, parts: kind(
        *[one if read is None else read(one, parts) for read, one in zip(readers, data, strict=False)]
    )


def _argument(data: Json, parts: _Parts) -> Any:
    """Return a tensor, a function, or a scalar as it was written."""
    if isinstance(data, list):
        return parts.groups[data[0]][data[1]]
    return Function(data["function"]) if isinstance(data, dict) else data


def _gradients(data: Json, parts: _Parts) -> tuple[Tensor | None, ...]:
    """Return gradients in memory of their own: they go into a backward pass as they are.

    There a submission may write into them. Where they lie decides how torch rounds; whatever else a call is given is
    copied by `observe`, so all of it lies as in a process without a job.
    """
    found = (_argument(one, parts) for one in data)
    return tuple([None if gradient is None else gradient.clone() for gradient in found])
