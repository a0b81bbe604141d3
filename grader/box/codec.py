"""How a job, a plan and a source text, travels into the sandbox: one blob in the format of safetensors, no pickle.

Tensors are stored under running numbers. The manifest is JSON under the metadata key `job`: a dataclass of the plan is
the list of its fields, a tensor `{"tensor": "<number>"}`, a function `{"function": "<name>"}`. What is read follows
from the types of the fields, so a field that is added to a plan needs no line here.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, get_args, get_origin, get_type_hints

import torch
from safetensors import TensorSpec as StoredTensor
from safetensors import serialize
from torch import Tensor

from grader.box import traps
from grader.box.plan import Function, Plan

Json = Any  # what json.loads gives; checked by the constructors it is handed to
Read = Callable[[Json, Mapping[str, Tensor]], Any]

_STORED = {  # as safetensors calls them
    "F64": torch.float64,
    "F32": torch.float32,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "I64": torch.int64,
    "I32": torch.int32,
    "BOOL": torch.bool,
}


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
    tensors: dict[str, Tensor] = {}

    def write(value: Any) -> Json:
        if isinstance(value, Function):
            return {"function": value.name}
        if isinstance(value, Tensor):
            tensors[str(len(tensors))] = value.detach().contiguous()
            return {"tensor": str(len(tensors) - 1)}
        if isinstance(value, Mapping):
            return dict(value)
        return [getattr(value, name) for name in value.__dataclass_fields__]

    manifest = json.dumps({"plan": plan, "source": source, "modules": modules or {}}, default=write)
    specs = {name: _spec(tensor) for name, tensor in tensors.items()}
    return bytes(serialize(specs, metadata={"job": manifest}))


def _spec(tensor: Tensor) -> StoredTensor:
    """Return where the numbers of a contiguous tensor lie; `safetensors.torch.save` asks numpy, which takes longer."""
    dtype = str(tensor.dtype).removeprefix("torch.")
    return StoredTensor(dtype=dtype, shape=tensor.shape, data_ptr=tensor.data_ptr(), data_len=tensor.nbytes)


def decode_job(blob: bytes) -> tuple[Plan, str]:
    """Return the plan and the source of a job."""
    job = open_job(bytearray(blob))
    return job.plan, job.source


def open_job(blob: bytearray) -> Job:
    """Return all that is in a job; its tensors lie in the memory of `blob`."""
    numbers = 8 + int.from_bytes(blob[:8], "little")
    header = json.loads(blob[8:numbers])
    manifest = json.loads(header.pop("__metadata__")["job"])
    plan: Plan = _reader(Plan)(manifest["plan"], _tensors(header, blob, numbers))
    return Job(plan, manifest["source"], manifest["modules"])


def _tensors(header: Mapping[str, Json], blob: bytearray, start: int) -> dict[str, Tensor]:
    """Return the tensors that lie in `blob` from `start` on; safetensors' own reader copies each of them twice."""
    room = len(blob) - start
    kinds = {place["dtype"]: _STORED[place["dtype"]] for place in header.values()}
    whole = {
        name: torch.frombuffer(blob, dtype=kind, offset=start, count=room // kind.itemsize)
        if room >= kind.itemsize
        else torch.empty(0, dtype=kind)
        for name, kind in kinds.items()
    }
    return {name: _part(whole[place["dtype"]], place["shape"], place["data_offsets"]) for name, place in header.items()}


def _part(whole: Tensor, shape: list[int], ends: list[int]) -> Tensor:
    strides = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
    return whole.as_strided(shape, strides, ends[0] // whole.itemsize)


@cache
def _reader(kind: Any) -> Read:
    """Return what reads a value of a type that a plan has."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is tuple:  # always of one type and of any length
        item = _reader(inner[0])
        return lambda data, tensors: tuple([item(one, tensors) for one in data])
    if origin is Mapping:
        value = _reader(inner[1])
        return lambda data, tensors: {name: value(one, tensors) for name, one in data.items()}
    if kind is Tensor or Tensor in inner:
        return _argument
    if is_dataclass(kind):
        return _instance(kind)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return lambda data, tensors: kind(data)
    return lambda data, tensors: data


def _instance(kind: Any) -> Read:
    hints = get_type_hints(kind)
    readers = [_reader(hints[field.name]) for field in fields(kind)]
    return lambda data, tensors: kind(*[read(one, tensors) for read, one in zip(readers, data, strict=True)])


def _argument(data: Json, tensors: Mapping[str, Tensor]) -> Any:
    """Return a tensor, a function, or a scalar as it was written."""
    if not isinstance(data, dict):
        return data
    return tensors[data["tensor"]] if "tensor" in data else Function(data["function"])
