"""Writes what was seen as frames; see `frames` for the format."""

from __future__ import annotations

import json
import math
import struct
from typing import Any

import torch
from torch import Tensor

from grader.box.frames import (
    DTYPE_NAMES,
    GRADIENT,
    HEADER,
    PLACES_LIMIT,
    PRESENCES,
    RANDOM,
    SLOT,
    TRACED,
    WRITES,
    Frame,
)
from grader.box.observations import BuildSeen, CallSeen, Event, Loaded, Raised, Seen, Traced, TrapHit
from grader.box.plan import Plan


def pack(event: Event, plan: Plan) -> bytes:
    """Return the frames of one event."""
    if isinstance(event, CallSeen):
        return _pack_call(event, plan)
    if isinstance(event, BuildSeen):
        index = next(i for i, build in enumerate(plan.builds) if build.name == event.name)
        return _text(Frame.BUILT, 0, index, _build_out(event))
    if isinstance(event, TrapHit):
        touched = {"what": event.what[:200], "line": event.line, "function": event.function[:200]}
        return _text(Frame.TOUCHED, int(event.loading), 0, touched)
    if isinstance(event, Loaded):
        return _text(Frame.LOADED, 0, 0, {"raised": _raised_out(event.raised), "missing": _short(event.missing)})
    return _text(Frame.LOADING, 0, 0, _raised_out(event))


def _pack_call(seen: CallSeen, plan: Plan) -> bytes:
    index = next(i for i, call in enumerate(plan.calls) if call.name == seen.name)
    frames = []
    for number, slot in enumerate(plan.slots(plan.calls[index])):
        if (found := seen.slots.get(slot.key)) is not None:
            frames.append(_pack_slot(index, number, found))
    frames += [_pack_result(index, result) for result in seen.trace]
    if seen.raised is None and not seen.modified and seen.largest is None:
        return b"".join([*frames, HEADER.pack(Frame.CALLED, 0, index, 0)])
    last = {"raised": _raised_out(seen.raised), "modified": list(seen.modified), "largest": seen.largest}
    return b"".join([*frames, _text(Frame.CALLED, 0, index, last)])


def _pack_slot(call: int, number: int, seen: Seen) -> bytes:
    if seen.tensor is not None:
        body = SLOT.pack(number) + _raw(seen.tensor)
        return HEADER.pack(Frame.TENSOR, DTYPE_NAMES.index(seen.dtype), call, len(body)) + body
    data = {"shape": list(seen.shape), "dtype": seen.dtype, "what": seen.what}
    body = SLOT.pack(number) + json.dumps(data).encode()
    return HEADER.pack(Frame.SEEN, PRESENCES.index(seen.presence), call, len(body)) + body


def _pack_result(call: int, result: Traced) -> bytes:
    shape = result.values.shape
    gradient = result.gradient
    traits = RANDOM * result.random | WRITES * result.writes | GRADIENT * (gradient is not None)
    dtype = DTYPE_NAMES.index(result.dtype)
    head = TRACED.pack(result.line, len(shape), dtype, traits) + struct.pack(f"<{len(shape)}I", *shape)
    body = head + _raw(result.values) + (_raw(gradient) if gradient is not None else b"")
    return HEADER.pack(Frame.TRACED, 0, call, len(body)) + body


def _raw(tensor: Tensor) -> bytes:
    return tensor.reshape(-1).contiguous().view(torch.uint8).numpy().tobytes() if tensor.numel() else b""


def _text(kind: Frame, code: int, index: int, data: Any) -> bytes:
    body = json.dumps(data).encode()
    return HEADER.pack(kind, code, index, len(body)) + body


def _raised_out(raised: Raised | None) -> Any:
    if raised is None:
        return None
    return {
        "stage": raised.stage.value,
        "blame": raised.blame.value,
        "type": raised.type[:100],
        "message": raised.message[:2000],
        "line": raised.line,
    }


def _build_out(seen: BuildSeen) -> Any:
    return {
        "mapping": {name: place[:200] for name, place in list(seen.mapping.items())[:100]},
        "raised": _raised_out(seen.raised),
        "unused": _short(seen.unused),
        "zeroed": _short(seen.zeroed),
        "loose": _short(seen.loose),
        "initial": {name: list(pair) for name, pair in seen.initial.items() if all(map(math.isfinite, pair))},
        "choices": seen.choices,
        "places": seen.places[:PLACES_LIMIT],
    }


def _short(names: tuple[str, ...]) -> list[str]:
    return [name[:200] for name in names[:50]]
