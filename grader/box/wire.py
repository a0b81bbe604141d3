"""Reads the frames of a run as they arrive and trusts none of them; see `frames` for the format.

The reader knows the plan, so it knows every slot, every shape and the largest possible answer. Whatever else arrives is
a `BadAnswer`. A size in a header is checked before anything is allocated for it.
"""

from __future__ import annotations

import json
import math
from enum import StrEnum
from typing import Any, TypeVar

import torch

from grader.box import traces
from grader.box.frames import DTYPE_NAMES, END, HEADER, PLACES_LIMIT, PRESENCES, SLOT, TEXT_LIMIT, TRAP_HITS, Frame
from grader.box.observations import Blame, BuildSeen, CallSeen, Event, Loaded, Presence, Raised, Seen, Stage, TrapHit
from grader.box.packing import pack
from grader.box.plan import DTYPES, MOST_CHOICES, Plan, TensorSpec
from grader.errors import BadAnswer

__all__ = ["END", "FrameReader", "pack"]

_FRAMES = {int(frame): frame for frame in Frame}
_ENDED_WELL: dict[str, Any] = {"modified": []}
_LOADING, _LOADED = "loading", "loaded"  # calls are `case/variant`, builds `build …`
Member = TypeVar("Member", bound=StrEnum)


class FrameReader:
    """Reads the stream of one run as it arrives, in pieces of any size.

    Attributes:
        events: all that were read so far, also those that arrived in one piece with bytes that break the format.
        finished: the END frame was read; any further byte is a `BadAnswer`.
    """

    def __init__(self, plan: Plan) -> None:
        self.events: list[Event] = []
        self.finished = False
        self._plan = plan
        self._buffer = bytearray()
        self._open: dict[int, dict[str, Seen]] = {}
        self._traces: dict[int, traces.Collected] = {}
        self._closed: set[str] = set()
        self._touches = 0
        self._slots = [plan.slots(call) for call in plan.calls]
        sizes = [max((math.prod(slot.shape) for slot in slots), default=0) for slots in self._slots]
        self._largest = [size * 8 + SLOT.size for size in sizes]  # bytes of a frame that holds a tensor, by call

    def feed(self, data: bytes) -> list[Event]:
        """Take bytes and return the events that they complete.

        Raises:
            BadAnswer: the bytes break the format.
        """
        self._buffer += data
        known, at, whole = len(self.events), 0, self._buffer
        try:
            while not self.finished and len(whole) - at >= HEADER.size:
                kind, code, index, length = HEADER.unpack_from(whole, at)
                self._expect_sane(kind, index, length)
                start, end = at + HEADER.size, at + HEADER.size + length
                if len(whole) < end:
                    break
                at = end
                if (event := self._read(_FRAMES[kind], code, index, bytes(whole[start:end]))) is not None:
                    self.events.append(event)
        finally:
            del self._buffer[:at]
        if self.finished and self._buffer:
            raise BadAnswer("the answer continues after its end")
        return self.events[known:]

    def _expect_sane(self, kind: int, index: int, length: int) -> None:
        if kind not in _FRAMES:
            raise BadAnswer(f"the answer has a frame of unknown kind {kind}")
        limit = TEXT_LIMIT
        if kind == Frame.TENSOR:
            self._slots_of(index)
            limit = self._largest[index]
        if kind == Frame.TRACED:
            self._slots_of(index)
            limit = traces.LARGEST if self._plan.calls[index].traced else -1
        if kind == Frame.END:
            limit = 0
        if length > limit:
            raise BadAnswer(f"a frame claims {length} bytes where at most {limit} are possible")

    def _slots_of(self, index: int) -> tuple[TensorSpec, ...]:
        if index >= len(self._slots):
            raise BadAnswer(f"the answer names call {index} of {len(self._slots)}")
        return self._slots[index]

    def _read(self, kind: Frame, code: int, index: int, body: bytes) -> Event | None:
        if kind is Frame.END:
            self.finished = True
            return None
        if _LOADING in self._closed:
            raise BadAnswer("the file could not be loaded, but the answer continues")
        if kind in (Frame.TENSOR, Frame.SEEN):
            self._read_slot(kind, code, index, body)
            return None
        if kind is Frame.TRACED:
            self._read_result(index, body)
            return None
        data = _parse(body) if body or kind is not Frame.CALLED else _ENDED_WELL
        if kind is Frame.TOUCHED:
            return self._read_touch(code, data)
        self._touches = 0
        if kind is Frame.LOADED:
            return self._read_loaded(data)
        if kind is Frame.CALLED:
            return self._close_call(index, data)
        if kind is Frame.BUILT:
            return self._close_build(index, data)
        return self._close_loading(data)

    def _read_slot(self, kind: Frame, code: int, index: int, body: bytes) -> None:
        slots = self._slots_of(index)
        if len(body) < SLOT.size or (number := SLOT.unpack_from(body)[0]) >= len(slots):
            raise BadAnswer("a frame names a slot that its call does not have")
        slot, rest = slots[number], body[SLOT.size :]
        found = self._open.setdefault(index, {})
        if slot.key in found or self._plan.calls[index].name in self._closed:
            raise BadAnswer(f"`{slot.key}` was sent twice")
        found[slot.key] = _tensor_in(slot, code, rest) if kind is Frame.TENSOR else _seen_in(code, _parse(rest))

    def _read_result(self, index: int, body: bytes) -> None:
        if self._plan.calls[index].name in self._closed:
            raise BadAnswer("a call was traced after its end")
        self._traces.setdefault(index, traces.Collected()).add(body)

    def _read_touch(self, code: int, data: dict[str, Any]) -> TrapHit:
        self._touches += 1
        if code > 1 or self._touches > TRAP_HITS:
            raise BadAnswer("a trapped operation was reported in an unknown way, or too often")
        what, function = _text(data.get("what", ""), 200), _text(data.get("function", ""), 200)
        return TrapHit(what, _line(data.get("line")), function, loading=code == 1)

    def _read_loaded(self, data: dict[str, Any]) -> Loaded:
        if self._closed or self._open:
            raise BadAnswer("the file was reported as loaded twice, or after a call")
        raised = _raised_in(data["raised"]) if data.get("raised") else None
        if raised is not None and raised.stage is not Stage.LOAD:
            raise BadAnswer(f"the error of a demonstration is from the stage `{raised.stage}`")
        self._close(_LOADED)
        return Loaded(raised, _names(data.get("missing")))

    def _close_call(self, index: int, data: dict[str, Any]) -> CallSeen:
        self._slots_of(index)
        call = self._plan.calls[index]
        self._close(call.name)
        slots = self._open.pop(index, {})
        raised = _raised_in(data["raised"]) if data.get("raised") else None
        if raised is None and len(slots) < len(self._slots[index]):
            raise BadAnswer(f"`{call.name}` ended without an error, but not all of its tensors were sent")
        trace = tuple(self._traces.pop(index, traces.Collected()).results)
        return CallSeen(call.name, slots, raised, _names(data.get("modified")), _size(data.get("largest")), trace)

    def _close_build(self, index: int, data: dict[str, Any]) -> BuildSeen:
        if index >= len(self._plan.builds):
            raise BadAnswer(f"the answer names construction {index} of {len(self._plan.builds)}")
        build = self._plan.builds[index]
        self._close(f"build {build.name}")
        raised, mapping = data.get("raised"), data.get("mapping", {})
        if not isinstance(mapping, dict):
            raise BadAnswer("the mapping of weights is not an object")
        return BuildSeen(
            name=build.name,
            mapping={key[:100]: _text(place, 200) for key, place in mapping.items()},
            raised=_raised_in(raised) if raised else None,
            unused=_names(data.get("unused")),
            zeroed=_names(data.get("zeroed")),
            loose=_names(data.get("loose")),
            initial=_moments(data.get("initial", {})),
            choices=_choices(data.get("choices", 1)),
            places=_text(data.get("places", ""), PLACES_LIMIT),
        )

    def _close_loading(self, data: dict[str, Any]) -> Raised:
        if self._closed - {_LOADED} or self._open:
            raise BadAnswer("the file could not be loaded, but a call was reported")
        self._close(_LOADING)
        raised = _raised_in(data)
        if raised.stage is not Stage.LOAD:
            raise BadAnswer(f"the error of loading is from the stage `{raised.stage}`")
        return raised

    def _close(self, name: str) -> None:
        if name in self._closed:
            raise BadAnswer(f"`{name}` was reported twice")
        self._closed.add(name)


def _parse(body: bytes) -> dict[str, Any]:
    try:
        data = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise BadAnswer("a frame that must hold JSON does not") from error
    if not isinstance(data, dict):
        raise BadAnswer("a frame that must hold a JSON object holds something else")
    return data


def _tensor_in(slot: TensorSpec, code: int, raw: bytes) -> Seen:
    if code >= len(DTYPE_NAMES):
        raise BadAnswer(f"`{slot.key}` has dtype number {code}, which does not exist")
    dtype = DTYPES[DTYPE_NAMES[code]]
    size = math.prod(slot.shape) * dtype.itemsize
    if len(raw) != size:
        raise BadAnswer(f"`{slot.key}` has {len(raw)} bytes; its shape and dtype need {size}")
    if dtype is torch.bool and raw.translate(None, b"\0\1"):
        raise BadAnswer(f"`{slot.key}` is bool, but has bytes that are neither 0 nor 1")
    tensor = torch.frombuffer(bytearray(raw), dtype=dtype) if size else torch.empty(0, dtype=dtype)
    return Seen(Presence.TENSOR, tensor.view(slot.shape), slot.shape, DTYPE_NAMES[code])


def _seen_in(code: int, data: dict[str, Any]) -> Seen:
    if code >= len(PRESENCES) or PRESENCES[code] is Presence.TENSOR:
        raise BadAnswer(f"a slot has the unknown presence {code}")
    shape = data.get("shape")
    if not isinstance(shape, list) or len(shape) > 64 or not all(type(size) is int for size in shape):
        raise BadAnswer("a shape is not a list of at most 64 integers")
    if not all(0 <= size < 1 << 63 for size in shape):
        raise BadAnswer("a shape has a size that no tensor can have")
    return Seen(
        PRESENCES[code],
        shape=tuple(shape),
        dtype=_text(data.get("dtype", ""), 40),
        what=_text(data.get("what", ""), 200),
    )


def _raised_in(data: Any) -> Raised:
    if not isinstance(data, dict):
        raise BadAnswer("an exception is not an object")
    return Raised(
        stage=_member(Stage, data.get("stage")),
        blame=_member(Blame, data.get("blame")),
        type=_text(data.get("type", ""), 100),
        message=_text(data.get("message", ""), 2000),
        line=_line(data.get("line")),
    )


def _line(data: Any) -> int | None:
    return data if type(data) is int and 0 < data < 1_000_000 else None


def _member(kind: type[Member], value: Any) -> Member:
    name = _text(value, 40)
    try:
        return kind(name)
    except ValueError as error:
        raise BadAnswer(f"{name!r} is not a {kind.__name__.lower()}") from error


def _text(value: Any, limit: int) -> str:
    """Return a string, or a number as text, cut to `limit` characters; a nested value may be too deep to write out."""
    if isinstance(value, list | dict):
        raise BadAnswer("a list or an object stands in the place of a text")
    return str(value)[:limit]


def _size(data: Any) -> int | None:
    if data is not None and (type(data) is not int or not 0 <= data < 1 << 63):
        raise BadAnswer("a size is not one that a tensor can have")
    return data


def _choices(data: Any) -> int:
    if type(data) is not int or not 1 <= data <= MOST_CHOICES:
        raise BadAnswer("a number of assignments is not one that a construction can have")
    return data


def _moments(data: Any) -> dict[str, tuple[float, float]]:
    if not isinstance(data, dict) or len(data) > 100:
        raise BadAnswer("the moments of the weights are not an object, or too many")
    pairs = [pair for pair in data.values() if isinstance(pair, list) and [type(x) for x in pair] == [float, float]]
    if len(pairs) < len(data) or not all(math.isfinite(x) for pair in pairs for x in pair):
        raise BadAnswer("the moments of a weight are not two finite numbers")
    return {name[:100]: (pair[0], pair[1]) for name, pair in zip(data, pairs, strict=True)}


def _names(data: Any) -> tuple[str, ...]:
    if not isinstance(data, list) or len(data) > 100:
        raise BadAnswer("a list of names is not a list, or too long")
    return tuple(_text(name, 200) for name in data)
