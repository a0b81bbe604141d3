"""How a job, a plan and a source text, travels into the sandbox: one safetensors blob, no pickle.

Tensors are stored under running numbers. The manifest is JSON under the metadata key `job`; where a value is a
tensor it holds `{"tensor": "<number>"}`.
"""

from __future__ import annotations

import json
from typing import Any

from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors
from torch import Tensor

from grader.box import traps
from grader.box.plan import Argument, Build, Call, Entry, Kind, Plan, Slot, Weight

Json = Any  # what json.loads gives; checked by the constructors it is handed to


def encode_job(plan: Plan, source: str) -> bytes:
    """Return the bytes of a job.

    Raises:
        AuthorError: the plan forbids a group of operations that there is not.
    """
    traps.check(plan.forbidden)
    tensors: dict[str, Tensor] = {}

    def keep(value: Argument) -> Json:
        if not isinstance(value, Tensor):
            return value
        tensors[str(len(tensors))] = value.detach().clone().contiguous()
        return {"tensor": str(len(tensors) - 1)}

    manifest = {
        "source": source,
        "entry": _entry_out(plan.entry),
        "builds": [_build_out(build, keep) for build in plan.builds],
        "calls": [_call_out(call, keep) for call in plan.calls],
        "forbidden": plan.forbidden,
        "device": plan.device,
    }
    return save_tensors(tensors, metadata={"job": json.dumps(manifest)})


def decode_job(blob: bytes) -> tuple[Plan, str]:
    """Return the plan and the source of a job."""
    header_size = int.from_bytes(blob[:8], "little")
    manifest = json.loads(json.loads(blob[8 : 8 + header_size])["__metadata__"]["job"])
    tensors = load_tensors(blob)

    def find(value: Json) -> Argument:
        return tensors[value["tensor"]] if isinstance(value, dict) else value

    entry = manifest["entry"]
    plan = Plan(
        entry=Entry(
            entry["name"],
            Kind(entry["kind"]),
            tuple(entry["arguments"]),
            tuple(entry["constructor"]),
            entry["defaults"],
        ),
        builds=tuple(_build_in(build, find) for build in manifest["builds"]),
        calls=tuple(_call_in(call, find) for call in manifest["calls"]),
        forbidden=tuple(manifest["forbidden"]),
        device=manifest["device"],
    )
    return plan, manifest["source"]


def _entry_out(entry: Entry) -> Json:
    return {
        "name": entry.name,
        "kind": entry.kind.value,
        "arguments": entry.arguments,
        "constructor": entry.constructor,
        "defaults": dict(entry.defaults),
    }


def _build_out(build: Build, keep: Any) -> Json:
    weights = [
        {"name": w.name, "matrix": keep(w.matrix), "bias": keep(w.bias), "heads": w.heads} for w in build.weights
    ]
    return {
        "name": build.name,
        "arguments": dict(build.arguments),
        "weights": weights,
        "dtype": build.dtype,
        "refused": build.refused,
    }


def _build_in(data: Json, find: Any) -> Build:
    weights = (Weight(w["name"], find(w["matrix"]), find(w["bias"]), w["heads"]) for w in data["weights"])
    return Build(data["name"], data["arguments"], tuple(weights), data["dtype"], data["refused"])


def _call_out(call: Call, keep: Any) -> Json:
    return {
        "name": call.name,
        "build": call.build,
        "arguments": {name: keep(value) for name, value in call.arguments.items()},
        "outputs": [[slot.key, slot.axes, slot.shape] for slot in call.outputs],
        "upstream": [keep(gradient) for gradient in call.upstream],
        "wants": call.wants,
        "dtype": call.dtype,
        "training": call.training,
        "strided": call.strided,
        "seed": call.seed,
    }


def _call_in(data: Json, find: Any) -> Call:
    return Call(
        name=data["name"],
        build=data["build"],
        arguments={name: find(value) for name, value in data["arguments"].items()},
        outputs=tuple(Slot(key, tuple(axes), tuple(shape)) for key, axes, shape in data["outputs"]),
        upstream=tuple(find(gradient) for gradient in data["upstream"]),
        wants=tuple(data["wants"]),
        dtype=data["dtype"],
        training=data["training"],
        strided=data["strided"],
        seed=data["seed"],
    )
