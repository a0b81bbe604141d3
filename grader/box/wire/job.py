"""How a job, a plan and a source text, travels into the sandbox: a text in JSON, then the numbers of its tensors.

    length u64 | text | numbers     (little endian)

In the text a dataclass of the plan is the list of its fields, a function `{"function": "<name>"}`, and a tensor
`[dtype, shape, place]`: from which byte of the numbers on it lies. What is read follows from the types of the fields,
so a field that is added to a plan needs no line here. Only our own side writes this: the child reads it, and answers
with frames.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, get_args, get_origin, get_type_hints

import torch
from torch import Tensor

from grader.box import traps
from grader.box.plan import DTYPES, Function, Plan

Json = Any  # what json.loads gives; checked by the constructors it is handed to

_LENGTH = struct.Struct("<Q")
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
    numbers: list[bytes] = []
    place = 0

    def write(value: Any) -> Json:
        nonlocal place
        if isinstance(value, Tensor):
            start = place
            numbers.append(raw_bytes(value.detach()))
            place += len(numbers[-1])
            return _NAMES[value.dtype], value.shape, start
        if isinstance(value, Function):
            return {"function": value.name}
        return _row(value) if is_dataclass(value) else dict(value)

    whole = {"source": source, "modules": modules or {}, "plan": plan}
    text = json.dumps(whole, default=write, check_circular=False).encode("ascii")
    return b"".join([_LENGTH.pack(len(text)), text, *numbers])


def raw_bytes(tensor: Tensor) -> bytes:
    """Return the numbers of a tensor on the CPU, in the order of its axes."""
    known = tensor.view(torch.int16) if tensor.dtype is torch.bfloat16 else tensor  # which numpy has not
    return known.numpy().tobytes()


def _row(value: Any) -> list[Any]:
    kind: Any = type(value)
    return [getattr(value, name) for name in _names(kind)]


@cache
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def decode_job(blob: bytes) -> tuple[Plan, str]:
    """Return the plan and the source of a job."""
    job = open_job(bytearray(blob))
    return job.plan, job.source


def open_job(blob: bytearray) -> Job:
    """Return all that is in a job; its tensors lie in the memory of `blob`, each in a place of its own."""
    start = _LENGTH.size + _LENGTH.unpack_from(blob)[0]
    whole = json.loads(str(memoryview(blob)[_LENGTH.size : start], "ascii"))

    def tensor(name: str, shape: list[int], place: int) -> Tensor:
        if not (size := math.prod(shape)):
            return torch.empty(shape, dtype=DTYPES[name])
        return torch.frombuffer(blob, dtype=DTYPES[name], offset=start + place, count=size).view(shape)

    plan: Plan = _plan_reader()(whole["plan"], tensor)
    return Job(plan, whole["source"], whole["modules"])


Read = Callable[[Json, Callable[..., Tensor]], Any]  # reads a value; the second argument makes its tensors


@cache
def _plan_reader() -> Read:
    return _reader_of_fields(Plan)


def _reader(kind: Any) -> Read | None:
    """Return what reads a value of a type that a plan has; None where it is what JSON gives."""
    origin, inner = get_origin(kind), get_args(kind)
    if kind == tuple[Tensor | None, ...]:
        return _read_gradients
    if kind is Tensor or Tensor in inner:
        return _read_argument
    if origin is tuple:  # always of one type and of any length
        item = _reader(inner[0])
        return lambda data, tensor: tuple(data if item is None else [item(one, tensor) for one in data])
    if origin is Mapping:
        value = _reader(inner[1])
        return value and (lambda data, tensor: {name: value(one, tensor) for name, one in data.items()})
    if is_dataclass(kind):
        return _reader_of_fields(kind)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return lambda data, tensor: kind(data)
    return None


def _read_argument(data: Json, tensor: Callable[..., Tensor]) -> Any:
    if isinstance(data, list):
        return tensor(*data)
    return Function(data["function"]) if isinstance(data, dict) else data


def _read_gradients(data: Json, tensor: Callable[..., Tensor]) -> tuple[Tensor | None, ...]:
    """Return gradients in memory of their own: they go into a backward pass as they are.

    There a submission may write into them. Where they lie decides how torch rounds; whatever else a call is given is
    copied by `observe`, so all of it lies as in a process without a job.
    """
    return tuple([None if one is None else tensor(*one).clone() for one in data])


def _reader_of_fields(kind: Any) -> Read:
    hints = get_type_hints(kind)
    readers = [(at, read) for at, name in enumerate(_names(kind)) if (read := _reader(hints[name])) is not None]

    def read_fields(data: list[Json], tensor: Callable[..., Tensor]) -> Any:
        for at, read in readers:
            data[at] = read(data[at], tensor)
        return kind(*data)

    return read_fields
