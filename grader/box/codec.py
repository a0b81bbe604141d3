"""How a job, a plan and a source text, travels into the sandbox: one safetensors blob, no pickle.

Tensors are stored under running numbers. The manifest is JSON under the metadata key `job`; where a value is a
tensor it holds `{"tensor": "<number>"}`, where it is a function `{"function": "<name>"}`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from safetensors import TensorSpec as StoredTensor
from safetensors import serialize
from safetensors.torch import load as load_tensors
from torch import Tensor

from grader.box import traps
from grader.box.keys import CallName, SlotKey
from grader.box.plan import Argument, Build, Call, Entry, Function, Holding, Kind, Pick, Plan, TensorSpec, Weight

Json = Any  # what json.loads gives; checked by the constructors it is handed to


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

    def keep(value: Argument) -> Json:
        if isinstance(value, Function):
            return {"function": value.name}
        if not isinstance(value, Tensor):
            return value
        tensors[str(len(tensors))] = value.detach().contiguous()
        return {"tensor": str(len(tensors) - 1)}

    manifest = {
        "source": source,
        "modules": dict(modules or {}),
        "entry": _entry_out(plan.entry),
        "builds": [_build_out(build, keep) for build in plan.builds],
        "calls": [_call_out(call, keep) for call in plan.calls],
        "forbidden": plan.forbidden,
        "device": plan.device,
        "parts": {name: _entry_out(entry) for name, entry in plan.parts.items()},
        "initial_of": plan.initial_of,
    }
    specs = {name: _spec(tensor) for name, tensor in tensors.items()}
    return bytes(serialize(specs, metadata={"job": json.dumps(manifest)}))


def _spec(tensor: Tensor) -> StoredTensor:
    """Return where the numbers of a contiguous tensor lie; `safetensors.torch.save` asks numpy, which takes longer."""
    dtype = str(tensor.dtype).removeprefix("torch.")
    return StoredTensor(dtype=dtype, shape=tensor.shape, data_ptr=tensor.data_ptr(), data_len=tensor.nbytes)


def decode_job(blob: bytes) -> tuple[Plan, str]:
    """Return the plan and the source of a job."""
    job = open_job(blob)
    return job.plan, job.source


def open_job(blob: bytes) -> Job:
    """Return all that is in a job."""
    header_size = int.from_bytes(blob[:8], "little")
    manifest = json.loads(json.loads(blob[8 : 8 + header_size])["__metadata__"]["job"])
    tensors = load_tensors(blob)

    def find(value: Json) -> Argument:
        if not isinstance(value, dict):
            return value  # type: ignore[no-any-return]  # a scalar, as it was written
        return tensors[value["tensor"]] if "tensor" in value else Function(value["function"])

    plan = Plan(
        entry=_entry_in(manifest["entry"]),
        builds=tuple(_build_in(build, find) for build in manifest["builds"]),
        calls=tuple(_call_in(call, find) for call in manifest["calls"]),
        forbidden=tuple(manifest["forbidden"]),
        device=manifest["device"],
        parts={name: _entry_in(entry) for name, entry in manifest["parts"].items()},
        initial_of=tuple(manifest["initial_of"]),
    )
    return Job(plan, manifest["source"], manifest["modules"])


def _entry_out(entry: Entry) -> Json:
    return {
        "name": entry.name,
        "kind": entry.kind.value,
        "arguments": entry.arguments,
        "constructor": entry.constructor,
        "defaults": dict(entry.defaults),
    }


def _entry_in(data: Json) -> Entry:
    return Entry(
        data["name"], Kind(data["kind"]), tuple(data["arguments"]), tuple(data["constructor"]), data["defaults"]
    )


def _build_out(build: Build, keep: Any) -> Json:
    return {
        "name": build.name,
        "arguments": dict(build.arguments),
        "weights": [_weight_out(weight, keep) for weight in build.weights],
        "dtype": build.dtype,
        "must_raise": build.must_raise,
        "part": build.part,
        "pick": [build.pick.nth, build.pick.places],
    }


def _build_in(data: Json, find: Any) -> Build:
    weights = tuple(_weight_in(weight, find) for weight in data["weights"])
    pick = Pick(*data["pick"])
    return Build(data["name"], data["arguments"], weights, data["dtype"], data["must_raise"], data["part"], pick)


def _weight_out(weight: Weight, keep: Any) -> Json:
    return {
        "name": weight.name,
        "matrix": keep(weight.matrix),
        "bias": keep(weight.bias),
        "heads": weight.heads,
        "holding": weight.holding.value,
        "either": weight.either,
    }


def _weight_in(data: Json, find: Any) -> Weight:
    return Weight(
        name=data["name"],
        matrix=find(data["matrix"]),
        bias=find(data["bias"]),
        heads=data["heads"],
        holding=Holding(data["holding"]),
        either=data["either"],
    )


def _call_out(call: Call, keep: Any) -> Json:
    return {
        "name": call.name,
        "build": call.build,
        "arguments": {name: keep(value) for name, value in call.arguments.items()},
        "outputs": [[slot.key, slot.axes, slot.shape, slot.dtype] for slot in call.outputs],
        "grad_outputs": [keep(gradient) for gradient in call.grad_outputs],
        "wants": call.wants,
        "dtype": call.dtype,
        "training": call.training,
        "non_contiguous": call.non_contiguous,
        "max_elements": call.max_elements,
        "seed": call.seed,
        "part": call.part,
        "reads_weights": call.reads_weights,
        "traced": call.traced,
    }


def _call_in(data: Json, find: Any) -> Call:
    return Call(
        name=CallName(data["name"]),
        build=data["build"],
        arguments={name: find(value) for name, value in data["arguments"].items()},
        outputs=tuple(
            TensorSpec(SlotKey(key), tuple(axes), tuple(shape), dtype) for key, axes, shape, dtype in data["outputs"]
        ),
        grad_outputs=tuple(find(gradient) for gradient in data["grad_outputs"]),
        wants=tuple(data["wants"]),
        dtype=data["dtype"],
        training=data["training"],
        non_contiguous=data["non_contiguous"],
        max_elements=data["max_elements"],
        seed=data["seed"],
        part=data["part"],
        reads_weights=data["reads_weights"],
        traced=data["traced"],
    )
