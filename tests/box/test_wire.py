"""The wire: everything that was seen comes out as it went in, and whatever else arrives is a bad answer."""

from __future__ import annotations

import json
import random
from contextlib import suppress
from dataclasses import replace

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.box.keys import call_name, output_key
from grader.box.observations import (
    NOTICES,
    TRAP_HITS,
    Blame,
    BuildSeen,
    CallSeen,
    Event,
    Loaded,
    Observations,
    Presence,
    Raised,
    Seen,
    Stage,
    TrapHit,
)
from grader.box.plan import DTYPES, MOST_CHOICES, Call, Entry, Kind, Plan, TensorSpec
from grader.box.wire.answer import END, HEADER, SLOT_TEXT_LIMIT, TEXT_LIMIT, Frame, FrameReader, pack
from grader.errors import BadAnswer
from tests.box.small import attention_plan, numbers

_MAPPING = {"W_query": "q_proj.weight", "W_query.bias": "q_proj.bias"}
_RAISED = Raised(Stage.BACKWARD, Blame.ERROR, "RuntimeError", "an \ud800 odd — message", 12)
_DOUBLE, _ABSENT = "float64", None
_DOUBLES = bytes(64 + 128)  # what the second call of the plan gives: its context and its weights


def _tensor(*shape: int) -> Seen:
    return Seen(Presence.TENSOR, numbers(*shape), shape, "float64")


def _full_call() -> CallSeen:
    """Return the first call of the plan with all that it may give."""
    slots = {
        "output:context": _tensor(4, 2),
        "output:weights": Seen(Presence.MISSHAPEN, shape=(4, 9), dtype="float64"),
        "input:x": Seen(Presence.NONE),
        "weight:W_query": _tensor(3, 2),
        "weight:W_query.bias": Seen(Presence.OTHER, what="a list of 2"),
    }
    return CallSeen("small/base", slots, None, ("x",))


def _plain(event: Event) -> object:
    """Return an event in a form that can be compared."""
    if not isinstance(event, CallSeen):
        return event
    slots = {
        key: (seen.presence, seen.shape, seen.dtype, seen.what, None if seen.tensor is None else seen.tensor.tolist())
        for key, seen in event.slots.items()
    }
    return event.name, slots, event.raised, event.modified


def _frame(
    kind: int, text: bytes, values: bytes = b"", *, index: int = 0, sizes: tuple[int, int] | None = None
) -> bytes:
    return HEADER.pack(kind, index, *(sizes or (len(text), len(values)))) + text + values


def _call(*slots: object, values: bytes = b"", **told: object) -> bytes:
    """Return the frame of the second call, which has two slots."""
    data = {"raised": None, "modified": [], "largest": None, "slots": slots, **told}
    return _frame(Frame.CALLED, json.dumps(data).encode(), values, index=1)


def _json(kind: int, data: object, *, index: int = 0) -> bytes:
    return _frame(kind, json.dumps(data).encode(), index=index)


def _built(**told: object) -> bytes:
    """Return the frame of a construction that went well, with some fields changed."""
    lists: dict[str, list[str]] = {key: [] for key in ("unused", "zeroed", "loose")}
    whole = {"mapping": _MAPPING, "raised": None, **lists, "initial": {}, "choices": 1, "places": ""}
    return _json(Frame.BUILT, {**whole, **told})


_EVENTS = [
    _full_call(),
    CallSeen("small/base", {}, replace(_RAISED, stage=Stage.CALL), ()),
    CallSeen("small/base", {"output:context": _tensor(4, 2), "output:weights": _tensor(4, 4)}, _RAISED, ()),
    BuildSeen("d_in=3", _MAPPING, None, ("b (2,)",), ("c.bias",), ("tril",)),
    BuildSeen("d_in=3", raised=Raised(Stage.CONSTRUCT, Blame.ARGUMENT, "TypeError", "no", None)),
    Raised(Stage.LOAD, Blame.ENTRY, "Rejected", "your file must define …", None),
    TrapHit("torch.softmax", 7, "Attention.forward"),
    TrapHit("torch.softmax", None, "", loading=True),
    TrapHit("tb_frame", 2, "f", noticed=True),
    TrapHit("tb_frame", 2, "", loading=True, noticed=True),
    Loaded(Raised(Stage.LOAD, Blame.ERROR, "IndexError", "out of range", 9), ("matplotlib", "tqdm"), over=True),
]
_TOUCHED = {"what": "torch.softmax", "line": 3, "function": "f", "loading": False, "noticed": False}


@pytest.mark.parametrize("event", _EVENTS, ids=lambda event: type(event).__name__)
def test_an_event_comes_out_as_it_went_in(event: Event) -> None:
    """Pack and read are inverse, and the end is seen."""
    plan = attention_plan()
    reader = FrameReader(plan)

    events = reader.feed(pack(event, plan) + END)

    assert [_plain(found) for found in events] == [_plain(event)]
    assert reader.finished


def test_a_file_is_loaded_once_and_first() -> None:
    """A demonstration is told before anything is run, and one time; an entry point may still lack."""
    plan, loaded = attention_plan(), pack(Loaded(), attention_plan())
    late = pack(Loaded(Raised(Stage.CALL, Blame.ERROR, "E", "")), plan)

    for stream in (loaded + loaded, pack(_EVENTS[3], plan) + loaded, late):
        with pytest.raises(BadAnswer):
            FrameReader(plan).feed(stream)
    assert len(FrameReader(plan).feed(loaded + pack(_EVENTS[5], plan) + END)) == 2


def test_a_stream_may_arrive_byte_by_byte() -> None:
    """How the bytes are cut says nothing."""
    plan = attention_plan()
    stream = b"".join(pack(event, plan) for event in (_EVENTS[3], _EVENTS[0])) + END
    reader = FrameReader(plan)

    events = [event for byte in stream for event in reader.feed(bytes([byte]))]

    assert [_plain(event) for event in events] == [_plain(_EVENTS[3]), _plain(_EVENTS[0])]


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
@pytest.mark.parametrize("shape", [(), (0, 3), (2, 3)])
def test_every_dtype_and_shape_crosses(dtype: str, shape: tuple[int, ...]) -> None:
    """Scalars and empty tensors too, bit by bit, NaN and infinities among them."""
    values = numbers(*shape).to(getattr(torch, dtype))
    if len(shape) == 2 and values.numel():
        values[0, 0], values[0, 1] = float("nan"), float("-inf")
    plan = Plan(Entry("f", Kind.FUNCTION, ()), (), (Call("c/base", None, {}, (TensorSpec("output:y", (), shape),)),))
    seen = CallSeen("c/base", {"output:y": Seen(Presence.TENSOR, values, shape, dtype)})

    (found,) = FrameReader(plan).feed(pack(seen, plan))

    assert isinstance(found, CallSeen)
    tensor = found.slots["output:y"].tensor
    assert tensor is not None
    assert tensor.dtype == values.dtype
    assert torch.equal(tensor.nan_to_num(9.0), values.nan_to_num(9.0))


def test_observations_gather_events_by_name() -> None:
    """Calls, constructions and the loading error each have their place."""
    seen = Observations.of(_EVENTS[2:])

    assert list(seen.calls) == ["small/base"]
    assert list(seen.builds) == ["d_in=3"]
    assert seen.loading == _EVENTS[5]


_SEEN = {"presence": "misshapen", "shape": [1], "dtype": "float64", "what": ""}
_LOADING = {"stage": "load", "blame": "error", "type": "E", "message": "", "line": 1, "bases": []}
_IN_CALL = {**_LOADING, "stage": "call"}
_WHOLE = _call(_DOUBLE, _DOUBLE, values=_DOUBLES)
_LARGEST_TEXT = TEXT_LIMIT + 2 * SLOT_TEXT_LIMIT


def _in_words(words: object) -> bytes:
    """Return the frame of a call whose second slot came in words."""
    return _call(_DOUBLE, words, values=bytes(64))


def _text(text: bytes) -> bytes:
    """Return the frame of a call that ended well, with this text."""
    return _frame(Frame.CALLED, text, _DOUBLES, index=1)


_HOSTILE = {
    "unknown kind": _frame(99, b""),
    "kind zero": _frame(0, b""),
    "kind one": _frame(1, b""),
    "huge text": _frame(Frame.CALLED, b"", sizes=((1 << 32) - 1, 0)),
    "huge values": _frame(Frame.CALLED, b"", sizes=(0, (1 << 32) - 1)),
    "long values": _frame(Frame.CALLED, b"", index=1, sizes=(0, len(_DOUBLES) + 1)),
    "long text of a call": _frame(Frame.CALLED, b"", index=1, sizes=(_LARGEST_TEXT + 1, 0)),
    "long text": _frame(Frame.BUILT, b"", sizes=(TEXT_LIMIT + 1, 0)),
    "values of a construction": _frame(Frame.BUILT, b"", b"x"),
    "an end with a text": _frame(Frame.END, b"x"),
    "an end with values": _frame(Frame.END, b"", b"x"),
    "no such call": _frame(Frame.CALLED, _WHOLE[HEADER.size :], index=9),
    "nothing of a call": _frame(Frame.CALLED, b"", index=1),
    "fewer slots": _call(_DOUBLE, values=bytes(64)),
    "more slots": _call(_DOUBLE, _DOUBLE, _ABSENT, values=_DOUBLES),
    "slots that are an object": _call(values=_DOUBLES, slots={"0": _DOUBLE, "1": _DOUBLE}),
    "slots that are a text": _call(values=_DOUBLES, slots="xx"),
    "no such dtype": _call(_DOUBLE, "complex64", values=bytes(64 + 16)),
    "too short": _call(_DOUBLE, _DOUBLE, values=_DOUBLES[:-1]),
    "too long": _call(_DOUBLE, "float32", values=_DOUBLES),
    "no values": _call(_DOUBLE, _DOUBLE),
    "values of a slot in words": _call(_DOUBLE, _SEEN, values=_DOUBLES),
    "values of a slot that is absent": _call(_DOUBLE, _ABSENT, values=_DOUBLES, raised=_IN_CALL),
    "a bool where numbers are asked for": _call(_DOUBLE, "bool", values=bytes(64) + b"\1" + bytes(15)),
    "a call twice": 2 * _WHOLE,
    "a call twice in two forms": _WHOLE + _in_words(_SEEN),
    "presence tensor in words": _in_words({**_SEEN, "presence": "tensor"}),
    "no such presence": _in_words({**_SEEN, "presence": "absent"}),
    "words without a field": _in_words({key: value for key, value in _SEEN.items() if key != "what"}),
    "words with one field more": _in_words({**_SEEN, "tensor": 1}),
    "words of a number": _in_words(3),
    "words of a list": _in_words([1]),
    "a shape of booleans": _in_words({**_SEEN, "shape": [True]}),
    "a shape of text": _in_words({**_SEEN, "shape": ["4"]}),
    "a negative size": _in_words({**_SEEN, "shape": [-1]}),
    "an endless size": _in_words({**_SEEN, "shape": [10**30]}),
    "a long shape": _in_words({**_SEEN, "shape": [1] * 65}),
    "a shape that is none": _in_words({**_SEEN, "shape": None}),
    "a dtype that is a list": _in_words({**_SEEN, "dtype": []}),
    "a description that is a list": _in_words({**_SEEN, "what": []}),
    "no JSON": _text(b"{"),
    "no text": _text(b""),
    "JSON in no encoding": _text(b"\xff\xfe{"),
    "a list": _text(b"[1]"),
    "a number": _json(Frame.BUILT, 1),
    "NaN": _text(b"NaN"),
    "nested without end": _text(b"[" * 60_000),
    "nested objects": _text(b'{"a":' * 10_000),
    "a number of many digits": _text(b'{"raised": ' + b"9" * 60_000 + b"}"),
    "a well ended call without tensors": _call(_ABSENT, _ABSENT),
    "a well ended call without its last tensor": _call(_DOUBLE, _ABSENT, values=bytes(64)),
    "no names of what was modified": _text(b'{"raised": null, "largest": null, "slots": ["float64", "float64"]}'),
    "a size that is none": _call(_DOUBLE, _DOUBLE, values=_DOUBLES, largest=-1),
    "names that are none": _built(unused=3),
    "too many names": _built(unused=["x"] * 101),
    "a mapping that is none": _built(mapping=[]),
    "an initial value that is none": _built(initial={"W_query": [0.0, 1]}),
    "no such construction": _json(Frame.BUILT, {}, index=5),
    "a construction twice": 2 * _built(),
    "an exception that is none": _call(_DOUBLE, _DOUBLE, values=_DOUBLES, raised="boom"),
    "no such stage": _json(Frame.LOADING, {**_LOADING, "stage": "lunch"}),
    "a stage that is a list": _json(Frame.LOADING, {**_LOADING, "stage": []}),
    "a stage that comes later": _json(Frame.LOADING, _IN_CALL),
    "no such blame": _json(Frame.LOADING, {**_LOADING, "blame": None}),
    "loading fails after a call": _WHOLE + _json(Frame.LOADING, _LOADING),
    "a call after loading failed": _json(Frame.LOADING, _LOADING) + _WHOLE,
    "a text that is a list": _json(Frame.LOADING, {**_LOADING, "message": [[]]}),
    "a name that is an object": _built(unused=[{}]),
    "a place that is nested": _frame(Frame.BUILT, b'{"mapping": {"W": ' + b"[" * 900 + b"]" * 900 + b"}}"),
    "loading fails twice": 2 * _json(Frame.LOADING, _LOADING),
    "a touch in no way": _json(Frame.TOUCHED, {**_TOUCHED, "loading": 4}),
    "too many notices": (NOTICES + 1) * _json(Frame.TOUCHED, {**_TOUCHED, "noticed": True}),
    "a touch of nested names": _json(Frame.TOUCHED, {**_TOUCHED, "what": [[]]}),
    "a touch that is a list": _json(Frame.TOUCHED, [_TOUCHED]),
    "too many touches": (TRAP_HITS + 1) * _json(Frame.TOUCHED, _TOUCHED),
    "more after the end": END + b"\0",
    "two ends": END + END,
}


@pytest.mark.parametrize("stream", _HOSTILE.values(), ids=_HOSTILE.keys())
def test_a_stream_that_breaks_the_format_is_a_bad_answer(stream: bytes) -> None:
    """No crash, no exception of another kind, no silence."""
    with pytest.raises(BadAnswer):
        FrameReader(attention_plan()).feed(stream)


@pytest.mark.parametrize("cut", [1, 7, 1 << 20])
def test_what_came_before_a_break_counts_however_the_stream_is_cut(cut: int) -> None:
    """The pipe decides how many frames arrive at once; what was finished must not depend on that."""
    plan = attention_plan()
    stream = pack(_EVENTS[3], plan) + pack(_full_call(), plan) + _HOSTILE["unknown kind"]
    reader = FrameReader(plan)
    for start in range(0, len(stream), cut):
        with suppress(BadAnswer):
            reader.feed(stream[start : start + cut])

    assert [_plain(event) for event in reader.events] == [_plain(_EVENTS[3]), _plain(_full_call())]


def test_each_call_may_be_touched_anew() -> None:
    """The cap is on what comes between two events; odd values in a touch are taken as text, or dropped."""
    plan = attention_plan()
    trap_hits = TRAP_HITS * _json(Frame.TOUCHED, {**_TOUCHED, "what": 5, "line": -1, "function": ""})
    reader = FrameReader(plan)

    events = reader.feed(trap_hits + pack(_EVENTS[3], plan) + trap_hits + pack(_full_call(), plan))

    assert [event for event in events if isinstance(event, TrapHit)] == 2 * TRAP_HITS * [TrapHit("5")]


@pytest.mark.parametrize("choices", [0, -1, MOST_CHOICES + 1, 1.0, True, "2", None])
def test_a_number_of_assignments_is_one_that_a_construction_can_have(choices: object) -> None:
    """Each one is asked for afterwards, so a number that no construction has is refused."""
    with pytest.raises(BadAnswer, match="number of assignments"):
        FrameReader(attention_plan()).feed(_built(choices=choices))


def test_bytes_after_the_end_are_refused_later_too() -> None:
    """Whoever holds the pipe open cannot add to a finished answer."""
    reader = FrameReader(attention_plan())
    reader.feed(END)

    with pytest.raises(BadAnswer, match="continues after its end"):
        reader.feed(b"x")


def test_a_call_cannot_be_reported_twice() -> None:
    """The second report of a call is refused, also one that says something else, or nothing."""
    for late in (_WHOLE, _call(_ABSENT, _ABSENT, raised=_IN_CALL), _call(_ABSENT, _ABSENT)):
        reader = FrameReader(attention_plan())
        reader.feed(_WHOLE)
        with pytest.raises(BadAnswer, match="twice"):
            reader.feed(late)


def test_the_frames_that_the_hostile_ones_are_made_from_are_good() -> None:
    """Whole, in words, with a text, as long as may be: each is read, so it is the change to it that is refused."""
    empty = {"raised": None, "modified": [], "largest": None, "slots": [_DOUBLE, _DOUBLE]}
    widest = json.dumps(empty).encode().ljust(_LARGEST_TEXT)
    good = (_WHOLE, _in_words(_SEEN), _text(widest), _call(_ABSENT, _ABSENT, raised=_IN_CALL))

    for frame in good:
        (seen,) = FrameReader(attention_plan()).feed(frame)
        assert isinstance(seen, CallSeen)
        assert seen.name == "small/again"


def test_tensors_of_several_dtypes_come_out_in_their_places() -> None:
    """Whatever their dtypes and sizes, empty ones among them."""
    dtypes = ("bool", "float64", "bfloat16", "int64", "float64", "bool")
    shapes = ((3,), (2, 2), (), (0, 4), (5,), (1, 3))
    slots = tuple(TensorSpec(output_key(str(at)), (), shape, "any") for at, shape in enumerate(shapes))
    plan = Plan(Entry("f", Kind.FUNCTION, ()), (), (Call(call_name("c"), None, {}, slots),))
    values = [
        numbers(*shape, seed=at).to(DTYPES[dtype]) for at, (shape, dtype) in enumerate(zip(shapes, dtypes, strict=True))
    ]
    sent = {
        slot.key: Seen(Presence.TENSOR, value, slot.shape, dtype)
        for slot, value, dtype in zip(slots, values, dtypes, strict=True)
    }

    (seen,) = FrameReader(plan).feed(pack(CallSeen("c/base", sent), plan))

    assert isinstance(seen, CallSeen)
    assert list(seen.slots) == [slot.key for slot in slots]
    for slot, value, dtype in zip(slots, values, dtypes, strict=True):
        found = seen.slots[slot.key]
        assert (found.dtype, found.shape) == (dtype, slot.shape)
        assert found.tensor is not None
        assert found.tensor.dtype == value.dtype
        assert torch.equal(found.tensor, value)


def test_a_bool_has_no_other_bytes_than_0_and_1() -> None:
    """Whoever reads memory as bool relies on it."""
    slot = TensorSpec(output_key("y"), (), (3,), "bool")
    plan = Plan(Entry("f", Kind.FUNCTION, ()), (), (Call(call_name("c"), None, {}, (slot,)),))
    text = json.dumps({"raised": None, "modified": [], "largest": None, "slots": ["bool"]}).encode()

    (seen,) = FrameReader(plan).feed(_frame(Frame.CALLED, text, b"\0\1\1"))
    with pytest.raises(BadAnswer, match="neither 0 nor 1"):
        FrameReader(plan).feed(_frame(Frame.CALLED, text, b"\0\2\1"))

    assert isinstance(seen, CallSeen)


def test_an_unfinished_stream_is_not_finished() -> None:
    """What is cut short gives the events before the cut, and no end."""
    plan = attention_plan()
    reader = FrameReader(plan)

    events = reader.feed((pack(_EVENTS[3], plan) + pack(_full_call(), plan))[:-1])

    assert [_plain(event) for event in events] == [_EVENTS[3]]
    assert not reader.finished


def test_odd_values_in_an_exception_are_taken_as_text() -> None:
    """A line that is no line is dropped; texts are cut; numbers in place of text become text."""
    reader = FrameReader(attention_plan())
    data = {**_LOADING, "line": True, "type": 5, "message": "m" * 9000}

    (raised,) = reader.feed(_json(Frame.LOADING, data))

    assert raised == Raised(Stage.LOAD, Blame.ERROR, "5", "m" * 2000, None)


def test_long_names_stay_within_a_frame() -> None:
    """An honest module with very many, very long names is no breach of the format."""
    plan = attention_plan()
    names = tuple(f"{number}{'n' * 5000}" for number in range(500))
    seen = BuildSeen("d_in=3", _MAPPING, None, names, names, names)

    (found,) = FrameReader(plan).feed(pack(seen, plan))

    assert isinstance(found, BuildSeen)
    assert len(found.unused) == 50


@settings(max_examples=150, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 1 << 32), flips=st.integers(1, 8), cut=st.integers(1, 500))
def test_a_damaged_stream_raises_nothing_but_a_bad_answer(seed: int, flips: int, cut: int) -> None:
    """Whatever bytes are changed, moved or left out."""
    plan = attention_plan()
    draw = random.Random(seed)
    stream = bytearray(b"".join(pack(event, plan) for event in (_EVENTS[3], _EVENTS[0])) + END)
    for _ in range(flips):
        place = draw.randrange(len(stream))
        stream[place : place + draw.randrange(3)] = draw.randbytes(draw.randrange(4))
    reader = FrameReader(plan)
    try:
        for start in range(0, len(stream), cut):
            reader.feed(bytes(stream[start : start + cut]))
    except BadAnswer:
        return
    assert isinstance(reader.finished, bool)
