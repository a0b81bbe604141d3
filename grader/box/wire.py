"""Reads the frames of a run as they arrive and trusts none of them; see `frames` for the format.

The reader knows the plan, so it knows every slot, every shape and the largest possible answer; `possible` says what no
construction and no call of it gives. Whatever else arrives is a `BadAnswer`. A size in a header is checked before
anything is allocated for it.
"""

from __future__ import annotations

from typing import Any

from grader.box import called, fields, possible, traces
from grader.box.frames import (
    END,
    HEADER,
    LOADING,
    NOTICED,
    NOTICES,
    PLACES_LIMIT,
    TEXT_LIMIT,
    TRAP_HITS,
    Frame,
)
from grader.box.observations import BuildSeen, CallSeen, Event, Loaded, Raised, Stage, TrapHit
from grader.box.packing import pack
from grader.box.plan import Plan, TensorSpec
from grader.errors import BadAnswer

__all__ = ["END", "FrameReader", "pack"]

_FRAMES = {int(frame): frame for frame in Frame}
_WORDY = (Frame.BUILT, Frame.LOADING, Frame.TOUCHED, Frame.LOADED)
_LIMITS: dict[int, int] = {**dict.fromkeys(_WORDY, TEXT_LIMIT), Frame.END: 0}  # bytes; others depend on their call
_LOADING, _LOADED = "loading", "loaded"  # calls are `case/variant`, builds `build …`


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
        self._traces: dict[int, traces.Collected] = {}
        self._closed: set[str] = set()
        self._touches = self._notices = 0
        self._slots = [plan.slots(call) for call in plan.calls]
        self._largest = [called.largest(slots) for slots in self._slots]  # bytes of the frame, by call

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
        limit = _LIMITS.get(kind)
        if kind == Frame.CALLED:
            self._slots_of(index)
            limit = self._largest[index]
        elif kind == Frame.TRACED:
            self._slots_of(index)
            limit = traces.LARGEST if self._plan.calls[index].traced else -1
        if limit is None:
            raise BadAnswer(f"the answer has a frame of unknown kind {kind}")
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
        if kind is Frame.TRACED:
            self._read_result(index, body)
            return None
        if kind is Frame.CALLED:
            self._touches = 0
            return self._close_call(index, body)
        data = fields.parse(body)
        if kind is Frame.TOUCHED:
            return self._read_touch(code, data)
        self._touches = 0
        if kind is Frame.LOADED:
            return self._read_loaded(data)
        if kind is Frame.BUILT:
            return self._close_build(index, data)
        return self._close_loading(data)

    def _read_result(self, index: int, body: bytes) -> None:
        call = self._plan.calls[index]
        if call.name in self._closed:
            raise BadAnswer("a call was traced after its end")
        if index not in self._traces:
            self._traces[index] = traces.Collected(gradients=bool(call.grad_outputs))
        self._traces[index].add(body)

    def _read_touch(self, code: int, data: dict[str, Any]) -> TrapHit:
        loading, noticed = bool(code & LOADING), bool(code & NOTICED)
        self._touches += not noticed
        self._notices += noticed
        if code > LOADING + NOTICED or self._touches > TRAP_HITS or self._notices > NOTICES:
            raise BadAnswer("a trapped operation was reported in an unknown way, or too often")
        what, function = fields.text(data.get("what", ""), 200), fields.text(data.get("function", ""), 200)
        return TrapHit(what, fields.line(data.get("line")), function, loading, noticed)

    def _read_loaded(self, data: dict[str, Any]) -> Loaded:
        if self._closed or self._traces:
            raise BadAnswer("the file was reported as loaded twice, or after a call")
        raised = fields.raised(data["raised"]) if data.get("raised") else None
        if raised is not None and raised.stage is not Stage.LOAD:
            raise BadAnswer(f"the error of a demonstration is from the stage `{raised.stage}`")
        self._close(_LOADED)
        return Loaded(raised, fields.names(data.get("missing")), over=True)

    def _close_call(self, index: int, body: bytes) -> CallSeen:
        call = self._plan.calls[index]
        self._close(call.name)
        slots, told = called.read(self._slots[index], body)
        raised = fields.raised(told["raised"]) if told.get("raised") else None
        if raised is None and len(slots) < len(self._slots[index]):
            raise BadAnswer(f"`{call.name}` ended without an error, but not all of its tensors were sent")
        trace = self._traces.pop(index, None)
        modified, largest = fields.names(told.get("modified")), fields.size(told.get("largest"))
        seen = CallSeen(call.name, slots, raised, modified, largest, tuple(trace.results) if trace else ())
        possible.expect_call(call, self._slots[index], seen)
        return seen

    def _close_build(self, index: int, data: dict[str, Any]) -> BuildSeen:
        if index >= len(self._plan.builds):
            raise BadAnswer(f"the answer names construction {index} of {len(self._plan.builds)}")
        build = self._plan.builds[index]
        self._close(f"build {build.name}")
        raised, mapping = data.get("raised"), data.get("mapping", {})
        if not isinstance(mapping, dict):
            raise BadAnswer("the mapping of weights is not an object")
        seen = BuildSeen(
            name=build.name,
            mapping={key[: possible.NAME_LIMIT]: fields.text(place, 200) for key, place in mapping.items()},
            raised=fields.raised(raised) if raised else None,
            unused=fields.names(data.get("unused")),
            zeroed=fields.names(data.get("zeroed")),
            loose=fields.names(data.get("loose")),
            initial=fields.moments(data.get("initial", {})),
            choices=fields.choices(data.get("choices", 1)),
            places=fields.text(data.get("places", ""), PLACES_LIMIT),
        )
        possible.expect_build(self._plan, build, seen)
        return seen

    def _close_loading(self, data: dict[str, Any]) -> Raised:
        if self._closed - {_LOADED} or self._traces:
            raise BadAnswer("the file could not be loaded, but a call was reported")
        self._close(_LOADING)
        raised = fields.raised(data)
        if raised.stage is not Stage.LOAD:
            raise BadAnswer(f"the error of loading is from the stage `{raised.stage}`")
        return raised

    def _close(self, name: str) -> None:
        if name in self._closed:
            raise BadAnswer(f"`{name}` was reported twice")
        self._closed.add(name)
