"""Writes what was seen as frames; see `frames` for the format."""

from __future__ import annotations

import json.encoder
import math
import struct
from operator import itemgetter
from typing import Any, NoReturn

import torch
from torch import Tensor

from grader.box.frames import (
    ABSENT,
    CUTS,
    DTYPE_NAMES,
    GRADIENT,
    HEADER,
    IN_WORDS,
    LOADING,
    NOTICED,
    PLACES_LIMIT,
    PRESENCES,
    RANDOM,
    TEXT_LENGTH,
    TRACED,
    WRITES,
    Frame,
)
from grader.box.observations import BuildSeen, CallSeen, Event, Loaded, Raised, Seen, Traced, TrapHit
from grader.box.plan import Plan

_TOUCHED = int(Frame.TOUCHED)  # to look up a member of an enumeration calls Python's own code


def _refuse(value: object) -> NoReturn:
    raise TypeError(f"there is no JSON for {type(value).__name__}")


# What `json.dumps` calls in the end. Between the two is code of Python's, which a submission can change.
_ENCODE = json.encoder.c_make_encoder(  # type: ignore[attr-defined]  # not in the stubs
    None, _refuse, json.encoder.encode_basestring_ascii, None, ": ", ", ", False, False, True
)


class Packer:
    """Writes the events of one plan."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._calls: dict[str, int] = {call.name: index for index, call in enumerate(plan.calls)}
        self._builds = {build.name: index for index, build in enumerate(plan.builds)}

    def pack(self, event: Event) -> bytes:
        """Return the frames of one event."""
        if isinstance(event, CallSeen):
            return self._pack_call(event)
        if isinstance(event, BuildSeen):
            return _text(Frame.BUILT, 0, self._builds[event.name], _build_out(event))
        if isinstance(event, TrapHit):
            touched = {"what": event.what[:200], "line": event.line, "function": event.function[:200]}
            return _text(_TOUCHED, LOADING * event.loading + NOTICED * event.noticed, 0, touched)
        if isinstance(event, Loaded):
            return _text(Frame.LOADED, 0, 0, {"raised": _raised_out(event.raised), "missing": _short(event.missing)})
        return _text(Frame.LOADING, 0, 0, _raised_out(event))

    def _pack_call(self, seen: CallSeen) -> bytes:
        index = self._calls[seen.name]
        found = [seen.slots.get(slot.key) for slot in self._plan.slots(self._plan.calls[index])]
        codes = bytes(map(_code, found))
        told = [_words(slot) for slot in found if slot is not None and slot.tensor is None]
        text = _call_out(seen, told)
        tensors = [(code, slot.tensor) for code, slot in zip(codes, found, strict=True) if code < IN_WORDS and slot]
        values = [_raw(tensor) for _, tensor in sorted(tensors, key=itemgetter(0)) if tensor is not None]
        body = b"".join([TEXT_LENGTH.pack(len(text)), codes, text, *values])
        results = [_pack_result(index, result) for result in seen.trace]
        return b"".join([*results, HEADER.pack(Frame.CALLED, 0, index, len(body)), body])


def pack(event: Event, plan: Plan) -> bytes:
    """Return the frames of one event; whoever has many events of a plan does better with a `Packer`."""
    return Packer(plan).pack(event)


def _code(slot: Seen | None) -> int:
    if slot is None:
        return ABSENT
    return IN_WORDS + PRESENCES.index(slot.presence) if slot.tensor is None else DTYPE_NAMES.index(slot.dtype)


def _words(slot: Seen) -> Any:
    return {"shape": list(slot.shape), "dtype": slot.dtype[:40], "what": slot.what[:200]}


def _call_out(seen: CallSeen, slots: list[Any]) -> bytes:
    if seen.raised is None and seen.largest is None and not seen.modified and not slots:
        return b""
    told = {"raised": _raised_out(seen.raised), "modified": list(seen.modified), "largest": seen.largest}
    return _json({**told, "slots": slots})


def _pack_result(call: int, result: Traced) -> bytes:
    shape = result.values.shape
    gradient = result.gradient
    traits = RANDOM * result.random | WRITES * result.writes | CUTS * result.cuts | GRADIENT * (gradient is not None)
    dtype = DTYPE_NAMES.index(result.dtype)
    head = TRACED.pack(result.line, result.caller, len(shape), dtype, traits, len(result.lines))
    head += struct.pack(f"<{len(shape) + len(result.lines)}I", *shape, *sorted(result.lines))
    body = head + _raw(result.values) + (_raw(gradient) if gradient is not None else b"")
    return HEADER.pack(Frame.TRACED, 0, call, len(body)) + body


def _raw(tensor: Tensor) -> bytes:
    known = tensor.view(torch.int16) if tensor.dtype is torch.bfloat16 else tensor  # which numpy has not
    return known.numpy().tobytes()


def _text(kind: int, code: int, index: int, data: Any) -> bytes:
    body = _json(data)
    return HEADER.pack(kind, code, index, len(body)) + body


def _json(data: Any) -> bytes:
    return "".join(_ENCODE(data, 0)).encode()


def _raised_out(raised: Raised | None) -> Any:
    if raised is None:
        return None
    return {
        "stage": raised.stage.value,
        "blame": raised.blame.value,
        "type": raised.type[:100],
        "message": raised.message[:2000],
        "line": raised.line,
        "bases": [name[:100] for name in raised.bases],
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
