"""How what was seen leaves the sandbox: frames that the child writes, and that the parent reads as if by an enemy.

A stream of frames, each a header of 11 bytes, a text and values, whose sizes the header gives:

    kind u8 | call or construction u16 | bytes of text u32 | bytes of values u32 | text | values     (little endian)

    CALLED   one call: text and the values of all its tensors, so that it arrives whole or not at all
    BUILT    one construction
    LOADING  the error that ended it all
    TOUCHED  an operation that was trapped, or noticed
    LOADED   a demonstration that raised, modules that are stood in for
    TRACED   one result of an operation in a traced call, before its CALLED
    END      the last frame, which is empty

The text is a JSON object with the fields of the event in `FIELDS`. That of a call has `slots` as well, for each slot of
the plan: null where nothing came, the dtype of a tensor in its announced shape, or an object that says what came
instead. The values of a call are those of these tensors, in their order. The text of a result has the `shape` of its
values, which are float64; where its `gradient` is true, the values of that follow.

The reader knows the plan, so it knows every slot, every shape, the largest possible answer, and what no construction
and no call can give: a submission may patch whatever writes the frames. Whatever else arrives is a `BadAnswer`. A size
in a header is checked before anything is allocated for it.
"""

from __future__ import annotations

import json
import json.encoder
import math
import struct
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from enum import IntEnum, StrEnum
from functools import partial
from typing import Any, NoReturn, TypeVar

import torch
from torch import Tensor

from grader.box.keys import is_output
from grader.box.observations import (
    MOST_AXES,
    MOST_LINES,
    MOST_RESULTS,
    NOTICES,
    TRACE_LIMIT,
    TRAP_HITS,
    Blame,
    BuildSeen,
    CallSeen,
    Event,
    Loaded,
    Presence,
    Raised,
    Seen,
    Stage,
    Traced,
    TrapHit,
)
from grader.box.places import without_places
from grader.box.plan import DTYPES, FLOATS, MOST_CHOICES, Build, Call, Plan, TensorSpec, Weight
from grader.box.wire.job import raw_bytes
from grader.errors import BadAnswer

HEADER = struct.Struct("<BHII")
TEXT_LIMIT = 64 << 10  # bytes of one text
SLOT_TEXT_LIMIT = 4 << 10  # bytes by which each slot of a call lengthens that
_NAMES_SENT, _NAMES_READ = 50, 100  # in one list
_NAME_LIMIT = 100  # characters of a weight's name
_WIDEST = 8  # bytes of a number
_LAST_LINE = 1_000_000  # which no submission has
# How many characters of a text are sent, by its field; 200 of any other.
_LIMITS = {"type": 100, "message": 2000, "dtype": 40, "places": 4000, "bases": 100}


class Frame(IntEnum):
    """What a frame holds."""

    CALLED = 3
    BUILT = 4
    LOADING = 5
    END = 6
    TOUCHED = 7
    LOADED = 8
    TRACED = 9


END = HEADER.pack(Frame.END, 0, 0, 0)
FIELDS: Mapping[type, tuple[str, ...]] = {
    CallSeen: ("raised", "modified", "largest"),
    BuildSeen: ("mapping", "raised", "unused", "zeroed", "loose", "initial", "choices", "places"),
    Raised: ("stage", "blame", "type", "message", "line", "bases"),
    TrapHit: ("what", "line", "function", "loading", "noticed"),
    Loaded: ("raised", "missing"),
    Seen: ("presence", "shape", "dtype", "what"),
    Traced: ("line", "caller", "dtype", "random", "writes", "cuts", "lines"),
}


def _refuse(value: object) -> NoReturn:
    raise TypeError(f"there is no JSON for {type(value).__name__}")


# What `json.dumps` calls in the end. Between the two is code of Python's, which a submission can change.
_ENCODE = json.encoder.c_make_encoder(  # type: ignore[attr-defined]  # not in the stubs
    None, _refuse, json.encoder.encode_basestring_ascii, None, ": ", ", ", False, False, True
)
# Numbers, since to look up a member of an enumeration calls Python's own code.
_CALLED, _BUILT, _TRACED = int(Frame.CALLED), int(Frame.BUILT), int(Frame.TRACED)
_FRAMES = frozenset(map(int, Frame))
_KINDS = {Raised: int(Frame.LOADING), TrapHit: int(Frame.TOUCHED), Loaded: int(Frame.LOADED)}


class Packer:
    """Writes the events of one plan."""

    def __init__(self, plan: Plan) -> None:
        self._calls: dict[str, tuple[int, tuple[TensorSpec, ...]]] = {
            call.name: (index, plan.slots(call)) for index, call in enumerate(plan.calls)
        }
        self._builds = {build.name: index for index, build in enumerate(plan.builds)}

    def pack(self, event: Event) -> bytes:
        """Return the frames of one event."""
        if isinstance(event, CallSeen):
            return self._pack_call(event)
        if isinstance(event, BuildSeen):
            return _frame(_BUILT, self._builds[event.name], _fields(event))
        return _frame(_KINDS[type(event)], 0, _fields(event))

    def _pack_call(self, seen: CallSeen) -> bytes:
        index, specs = self._calls[seen.name]
        slots = [seen.slots.get(spec.key) for spec in specs]
        words = [slot and (_fields(slot) if slot.tensor is None else slot.dtype) for slot in slots]
        values = [raw_bytes(slot.tensor) for slot in slots if slot is not None and slot.tensor is not None]
        results = [_pack_result(index, result) for result in seen.trace]
        return b"".join([*results, _frame(_CALLED, index, {**_fields(seen), "slots": words}, *values)])


def pack(event: Event, plan: Plan) -> bytes:
    """Return the frames of one event; whoever has many events of a plan does better with a `Packer`."""
    return Packer(plan).pack(event)


def _pack_result(call: int, result: Traced) -> bytes:
    tensors = [one for one in (result.values, result.gradient) if one is not None]
    text = {**_fields(result), "shape": list(result.values.shape), "gradient": len(tensors) > 1}
    return _frame(_TRACED, call, text, *map(raw_bytes, tensors))


def _frame(kind: int, index: int, text: Any, *values: bytes) -> bytes:
    body = "".join(_ENCODE(text, 0)).encode()
    return b"".join([HEADER.pack(kind, index, len(body), sum(map(len, values))), body, *values])


def _fields(event: object) -> dict[str, Any]:
    return {name: _cut(getattr(event, name), _LIMITS.get(name, 200)) for name in FIELDS[type(event)]}


def _cut(value: Any, limit: int) -> Any:
    if isinstance(value, str):
        return value[:limit]
    if isinstance(value, tuple):
        return [_cut(one, limit) for one in value[:_NAMES_SENT]]
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, dict):
        return {name: _cut(one, limit) for name, one in list(value.items())[:_NAMES_READ]}
    return _fields(value) if isinstance(value, Raised) else value


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
        self._slots = [plan.slots(call) for call in plan.calls]
        self._traces: dict[int, list[Traced]] = {}  # by call
        self._traced = Counter[int]()  # bytes, by call
        self._closed: set[object] = set()  # what may come once, and came
        self._touches = self._notices = 0

    def feed(self, data: bytes) -> list[Event]:
        """Take bytes and return the events that they complete.

        Raises:
            BadAnswer: the bytes break the format.
        """
        self._buffer += data
        known, at, whole = len(self.events), 0, self._buffer
        try:
            while not self.finished and len(whole) - at >= HEADER.size:
                kind, index, *sizes = HEADER.unpack_from(whole, at)
                self._expect_sane(kind, index, sizes)
                middle = at + HEADER.size + sizes[0]
                if len(whole) < middle + sizes[1]:
                    break
                text, values = bytes(whole[at + HEADER.size : middle]), bytes(whole[middle : middle + sizes[1]])
                at = middle + sizes[1]
                if (event := self._read(kind, index, text, values)) is not None:
                    self.events.append(event)
        finally:
            del self._buffer[:at]
        if self.finished and self._buffer:
            raise BadAnswer("the answer continues after its end")
        return self.events[known:]

    def _expect_sane(self, kind: int, index: int, sizes: list[int]) -> None:
        if kind not in _FRAMES:
            raise BadAnswer(f"the answer has a frame of unknown kind {kind}")
        limits = [0 if kind == Frame.END else TEXT_LIMIT, 0]
        if kind in (Frame.CALLED, Frame.TRACED):
            if index >= len(self._slots):
                raise BadAnswer(f"the answer names call {index} of {len(self._slots)}")
            slots = self._slots[index]
            numbers = _WIDEST * sum(math.prod(slot.shape) for slot in slots)
            traced = TRACE_LIMIT * self._plan.calls[index].traced
            limits = [TEXT_LIMIT + SLOT_TEXT_LIMIT * len(slots), numbers if kind == Frame.CALLED else traced]
        if any(size > limit for size, limit in zip(sizes, limits, strict=True)):
            raise BadAnswer(f"a frame claims {sum(sizes)} bytes where at most {sum(limits)} are possible")

    def _read(self, kind: int, index: int, text: bytes, values: bytes) -> Event | None:
        if kind == Frame.END:
            self.finished = True
            return None
        if Frame.LOADING in self._closed:
            raise BadAnswer("the file could not be loaded, but the answer continues")
        data = _parse(text)
        if kind == Frame.TRACED:
            self._read_result(index, data, values)
            return None
        if kind == Frame.TOUCHED:
            return self._read_touch(data)
        self._touches = 0
        if kind == Frame.CALLED:
            return self._read_call(index, data, values)
        if kind == Frame.BUILT:
            return self._read_build(index, data)
        return self._read_loading(kind, data)

    def _close(self, *name: object) -> None:
        if name in self._closed:
            raise BadAnswer(f"`{name[-1]}` was reported twice")
        self._closed.add(name)

    def _read_touch(self, data: dict[str, Any]) -> TrapHit:
        hit: TrapHit = _object(TrapHit, data)
        self._touches += not hit.noticed
        self._notices += hit.noticed
        if self._touches > TRAP_HITS or self._notices > NOTICES:
            raise BadAnswer("a trapped operation was reported too often")
        return hit

    def _read_loading(self, kind: int, data: dict[str, Any]) -> Raised | Loaded:
        if self._traces or self._closed - {("file",)}:
            raise BadAnswer("something was told of the loading of the file after a call")
        if kind == Frame.LOADING:
            self._closed.add(Frame.LOADING)
        else:
            self._close("file")
        event = _object(Raised, data) if kind == Frame.LOADING else _object(Loaded, data, over=True)
        raised: Raised | None = event if kind == Frame.LOADING else event.raised
        if raised is not None and raised.stage is not Stage.LOAD:
            raise BadAnswer(f"the error of loading is from the stage `{raised.stage}`")
        found: Raised | Loaded = event
        return found

    def _read_build(self, index: int, data: dict[str, Any]) -> BuildSeen:
        if index >= len(self._plan.builds):
            raise BadAnswer(f"the answer names construction {index} of {len(self._plan.builds)}")
        build = self._plan.builds[index]
        self._close("build", build.name)
        seen: BuildSeen = _object(BuildSeen, data, name=build.name)
        if (complaint := next(_about_build(self._plan, build, seen), None)) is not None:
            raise BadAnswer(f"construction `{build.name}` {complaint}")
        return seen

    def _read_call(self, index: int, data: dict[str, Any], values: bytes) -> CallSeen:
        call, specs = self._plan.calls[index], self._slots[index]
        self._close("call", call.name)
        slots = _slots(specs, data.pop("slots", None), values)
        trace = tuple(self._traces.pop(index, ()))
        seen: CallSeen = _object(CallSeen, data, name=call.name, slots=slots, trace=trace)
        if seen.raised is None and len(slots) < len(specs):
            raise BadAnswer(f"`{call.name}` ended without an error, but not all of its tensors were sent")
        if (complaint := next(_about_call(call, specs, seen), None)) is not None:
            raise BadAnswer(f"call `{call.name}` {complaint}")
        return seen

    def _read_result(self, index: int, data: dict[str, Any], values: bytes) -> None:
        call, kept = self._plan.calls[index], self._traces.setdefault(index, [])
        if ("call", call.name) in self._closed:
            raise BadAnswer("a call was traced after its end")
        shape, copies = _shape(data.pop("shape", None)), 1 + _truth(data.pop("gradient", None))
        if len(shape) > MOST_AXES or not values or len(values) != math.prod(shape) * _WIDEST * copies:
            raise BadAnswer(f"a result of an operation has {len(values)} bytes, which is not what its sizes come to")
        numbers = torch.frombuffer(bytearray(values), dtype=torch.float64).view(copies, *shape)
        result: Traced = _object(Traced, data, values=numbers[0], gradient=numbers[1] if copies > 1 else None)
        if result.line is None:
            raise BadAnswer("a result of an operation has a line that there is not")
        if copies > 1 and not call.grad_outputs:
            raise BadAnswer("a gradient came back to a result of a call without a backward pass")
        if result.dtype not in FLOATS and (copies > 1 or not result.writes or result.dtype not in DTYPES):
            raise BadAnswer(f"a result of an operation is {result.dtype}, which is not kept there")
        self._traced[index] += len(values)
        if len(kept) >= MOST_RESULTS or self._traced[index] > TRACE_LIMIT:
            raise BadAnswer("more results of operations were sent than are kept")
        kept.append(result)


def _parse(text: bytes) -> dict[str, Any]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadAnswer("a frame that must hold JSON does not") from error
    if not isinstance(data, dict):
        raise BadAnswer("a frame that must hold a JSON object holds something else")
    return data


def _object(kind: Any, data: Any, **known: Any) -> Any:
    """Return what a JSON object says of an event; `known` are the fields that are no part of the text."""
    if not isinstance(data, dict) or data.keys() != set(FIELDS[kind]):
        raise BadAnswer(f"a {kind.__name__} has not the fields that it should have")
    return kind(**known, **{name: _READERS[name](value) for name, value in data.items()})


def _slots(specs: tuple[TensorSpec, ...], told: Any, values: bytes) -> dict[str, Seen]:
    if not isinstance(told, list) or len(told) != len(specs):
        raise BadAnswer("the slots of a call are not a list, or not as many as it has")
    found: dict[str, Seen] = {}
    at = 0
    for spec, one in zip(specs, told, strict=True):
        if isinstance(one, str):
            if one not in spec.dtypes:
                raise BadAnswer(f"`{spec.key}` came as {one[:40]}; values of that dtype are never sent there")
            end = at + math.prod(spec.shape) * DTYPES[one].itemsize
            found[spec.key] = Seen(Presence.TENSOR, _tensor(values[at:end], one, spec.shape), spec.shape, one)
            at = end
        elif one is not None:
            found[spec.key] = _object(Seen, one)
    if at != len(values):
        raise BadAnswer(f"the tensors of a call have {len(values)} bytes; their shapes and dtypes need {at}")
    return found


def _tensor(raw: bytes, dtype: str, shape: tuple[int, ...]) -> Tensor:
    """Return bytes as a tensor, in memory of its own."""
    if len(raw) != math.prod(shape) * DTYPES[dtype].itemsize:
        raise BadAnswer(f"a tensor of the shape {shape} has {len(raw)} bytes")
    if dtype == "bool" and raw.translate(None, b"\0\1"):
        raise BadAnswer("a tensor is bool, but has bytes that are neither 0 nor 1")
    if not raw:
        return torch.empty(shape, dtype=DTYPES[dtype])
    return torch.frombuffer(bytearray(raw), dtype=DTYPES[dtype]).view(shape)


def _text(data: Any, limit: int = 200) -> str:
    """Return a string, or a number as text, cut; a nested value may be too deep to write out."""
    if isinstance(data, list | dict):
        raise BadAnswer("a list or an object stands in the place of a text")
    return str(data)[:limit]


_Member = TypeVar("_Member", bound=StrEnum)


def _member(kind: type[_Member], data: Any) -> _Member:
    name = _text(data, 40)
    try:
        return kind(name)
    except ValueError as error:
        raise BadAnswer(f"{name!r} is not a {kind.__name__.lower()}") from error


def _instead_of_a_tensor(data: Any) -> Presence:
    if (presence := _member(Presence, data)) is Presence.TENSOR:
        raise BadAnswer("a tensor was told in words")
    return presence


def _truth(data: Any) -> bool:
    if type(data) is not bool:
        raise BadAnswer("a truth is neither true nor false")
    return data


def _line(data: Any) -> int | None:
    """Return a line of a submission, None for whatever is none."""
    return data if type(data) is int and 0 < data < _LAST_LINE else None


def _integer(data: Any, least: int, most: int, what: str) -> int:
    if type(data) is not int or not least <= data <= most:
        raise BadAnswer(f"{what} is not one that there can be")
    return data


_size = partial(_integer, least=0, most=(1 << 63) - 1, what="a size")
_line_or_0 = partial(_integer, least=0, most=_LAST_LINE - 1, what="a line")


def _list(data: Any, most: int, what: str) -> list[Any]:
    if not isinstance(data, list) or len(data) > most:
        raise BadAnswer(f"a list of {what} is not a list, or too long")
    return data


def _names(data: Any, limit: int = 200) -> tuple[str, ...]:
    return tuple(_text(name, limit) for name in _list(data, _NAMES_READ, "names"))


def _shape(data: Any) -> tuple[int, ...]:
    return tuple(map(_size, _list(data, 64, "sizes")))


def _mapping(data: Any) -> dict[str, Any]:
    if not isinstance(data, dict) or len(data) > _NAMES_READ:
        raise BadAnswer("what was told of each weight is not an object, or too much")
    return {name[:_NAME_LIMIT]: value for name, value in data.items()}


def _moments(data: Any) -> dict[str, tuple[float, float]]:
    found = _mapping(data)
    for pair in found.values():
        if not isinstance(pair, list) or [type(x) for x in pair] != [float, float] or not all(map(math.isfinite, pair)):
            raise BadAnswer("the moments of a weight are not two finite numbers")
    return {name: (pair[0], pair[1]) for name, pair in found.items()}


# What reads each field of an event, and raises `BadAnswer` for whatever it cannot be.
_READERS: Mapping[str, Callable[[Any], Any]] = {
    "raised": lambda data: None if data is None else _object(Raised, data),
    "stage": partial(_member, Stage),
    "blame": partial(_member, Blame),
    "type": partial(_text, limit=_LIMITS["type"]),
    "message": lambda data: without_places(_text(data, _LIMITS["message"])),
    "line": _line,
    **dict.fromkeys(("bases", "modified", "unused", "zeroed", "loose", "missing"), _names),
    **dict.fromkeys(("what", "function"), _text),
    **dict.fromkeys(("loading", "noticed", "random", "writes", "cuts"), _truth),
    "largest": lambda data: None if data is None else _size(data),
    "mapping": lambda data: {name: _text(place) for name, place in _mapping(data).items()},
    "initial": _moments,
    "choices": partial(_integer, least=1, most=MOST_CHOICES, what="a number of assignments"),
    "places": partial(_text, limit=_LIMITS["places"]),
    "presence": _instead_of_a_tensor,
    "shape": _shape,
    "dtype": partial(_text, limit=_LIMITS["dtype"]),
    "caller": _line_or_0,
    "lines": lambda data: frozenset(map(_line_or_0, _list(data, MOST_LINES, "lines"))),
}


def _about_build(plan: Plan, build: Build, seen: BuildSeen) -> Iterator[str]:
    is_ours = plan.contract(build.part).kind.brings_a_model
    bare = is_ours or seen.raised is not None
    if (bare and seen.loose) or ((bare or build.must_raise) and (seen.unused or seen.zeroed)):
        yield "tells of parameters that nobody looked at"
    if seen.raised is None:
        yield from _about_weights(() if is_ours or build.must_raise else build.weights, plan.initial_of, seen)
    elif seen.raised.stage not in (Stage.CONSTRUCT, Stage.TRANSFER):
        yield f"raised at the stage `{seen.raised.stage}`, which is not one of a construction"
    elif seen.mapping or seen.initial or seen.places or seen.choices > 1:
        yield "raised, but tells of its weights"


def _about_weights(weights: tuple[Weight, ...], initial_of: tuple[str, ...], seen: BuildSeen) -> Iterator[str]:
    """Yield what cannot be of a construction that was given these weights."""
    names = {name[:_NAME_LIMIT] for name in _tensors_of(weights)}
    if not weights and (seen.zeroed or seen.choices > 1 or seen.places):
        yield "has assignments of weights or biases set to zero, but was given no weights"
    if not names.issuperset(seen.mapping) or len(seen.mapping) != min(len(names), _NAMES_READ):
        yield "has places for other weights than those that it was given"
    if not names.intersection(name[:_NAME_LIMIT] for name in initial_of).issuperset(seen.initial):
        yield "tells of initial values that nobody asked for"
    if any(deviation < 0 for _, deviation in seen.initial.values()):
        yield "has a standard deviation below zero"
    # A description of an assignment begins with a weight, or with a part that holds some.
    begins = {weight.name for weight in weights} | {f"{weight.name.rpartition('.')[0]}@" for weight in weights}
    if seen.places and seen.places.partition("=")[0] not in begins:
        yield "describes an assignment of other weights than those that it was given"


def _tensors_of(weights: tuple[Weight, ...]) -> Iterator[str]:
    """Yield the names under which the places of weights and their biases are told."""
    for weight in weights:
        yield weight.name
        if weight.bias is not None:
            yield f"{weight.name}.bias"


def _about_call(call: Call, specs: tuple[TensorSpec, ...], seen: CallSeen) -> Iterator[str]:
    if seen.largest is not None and not call.max_elements:
        yield "tells of its largest tensor, which nobody measured"
    if not {name for name, value in call.arguments.items() if isinstance(value, Tensor)}.issuperset(seen.modified):
        yield "modified what is not one of its tensors"
    if seen.raised is not None:
        yield from _about_stage(specs, seen, seen.raised.stage)
    for spec in specs:
        slot = seen.slots.get(spec.key)
        if slot is None:
            continue
        if slot.presence is Presence.NONE and is_output(spec.key):
            yield f"has no gradient in `{spec.key}`, which is not one"
        if slot.presence is Presence.MISSHAPEN and slot.shape == spec.shape and slot.dtype in spec.dtypes:
            yield f"sent no values of `{spec.key}`, whose shape and dtype are as announced"


def _about_stage(specs: tuple[TensorSpec, ...], seen: CallSeen, stage: Stage) -> Iterator[str]:
    """Yield what cannot be of a call that raised there: outputs are looked at together, and gradients too."""
    if stage not in (Stage.CALL, Stage.BACKWARD):
        yield f"raised at the stage `{stage}`, which is not one of a call"
    outputs = {spec.key for spec in specs if is_output(spec.key)}
    possible = [set()] if stage is Stage.CALL else [outputs, {spec.key for spec in specs}]
    if set(seen.slots) not in possible:
        yield f"raised at the stage `{stage}`, but sent what comes later, or only some of what came before"
