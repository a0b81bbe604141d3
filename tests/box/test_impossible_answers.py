"""Whoever can patch the sender keeps the format and lies all the same: what nobody can have seen is a bad answer."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from grader.box.observations import Blame, BuildSeen, CallSeen, Event, Presence, Raised, Seen, Stage
from grader.box.plan import Build, Entry, Kind, Plan, Weight
from grader.box.wire.answer import FrameReader, pack
from grader.errors import BadAnswer
from tests.box.small import attention_plan, numbers

_PLAN = replace(attention_plan(), initial_of=("W_query", "W_key"))
_RAISED = Raised(Stage.CALL, Blame.ERROR, "RuntimeError", "no", 12)
_MAPPING = {"W_query": "q_proj.weight", "W_query.bias": "q_proj.bias"}
_BUILT = BuildSeen(
    "d_in=3", _MAPPING, None, ("b (2,)",), ("c.bias",), ("tril",), {"W_query": (0.5, 0.0)}, 2, "W_query=1"
)
_ENDED = BuildSeen("d_in=3", raised=replace(_RAISED, stage=Stage.TRANSFER))
_SHAPES = {
    "output:context": (4, 2),
    "output:weights": (4, 4),
    "input:x": (4, 3),
    "weight:W_query": (3, 2),
    "weight:W_query.bias": (2,),
}
_SLOTS = {key: Seen(Presence.TENSOR, numbers(*shape), shape, "float64") for key, shape in _SHAPES.items()}
_CALLED = CallSeen("small/base", _SLOTS, modified=("x", "mask"))


def _without_weights(**build: bool) -> Plan:
    """Return a plan whose only construction is given no weights."""
    (whole,) = _PLAN.builds
    return replace(_PLAN, builds=(replace(whole, weights=whole.weights if build else (), **build),))


def _instead(key: str, seen: Seen) -> CallSeen:
    return replace(_CALLED, slots={**_SLOTS, key: seen})


def _of_dtype(key: str, dtype: torch.dtype) -> CallSeen:
    shape = _SHAPES[key]
    return _instead(key, Seen(Presence.TENSOR, torch.zeros(shape, dtype=dtype), shape, str(dtype)[6:]))


_MODEL = replace(_PLAN, entry=Entry("hook", Kind.INSPECT, ("x",)))
_WITHOUT = _without_weights()
_REFUSING = _without_weights(must_raise=True)
_IN_PARTS = replace(_PLAN, builds=(Build("d_in=3", {}, (Weight("encoder.W_query", numbers(3, 2)),)),))
_HONEST: dict[str, tuple[Plan, Event]] = {
    "a construction": (_PLAN, _BUILT),
    "a construction that raised": (_PLAN, _ENDED),
    "a construction without weights": (_WITHOUT, BuildSeen("d_in=3", {}, None, ("b (2,)",), (), ("tril",))),
    "a construction that should have raised": (_REFUSING, BuildSeen("d_in=3", loose=("tril",))),
    "a model of ours": (_MODEL, BuildSeen("d_in=3")),
    "a part that was found": (
        _IN_PARTS,
        BuildSeen("d_in=3", {"encoder.W_query": "e.W_query"}, choices=2, places="encoder@=e"),
    ),
    "a call": (_PLAN, _CALLED),
    "a call that raised": (_PLAN, CallSeen("small/base", raised=_RAISED)),
    "a call in half precision": (_PLAN, _of_dtype("input:x", torch.bfloat16)),
    "an output that is a mask": (_PLAN, _instead("output:weights", Seen(Presence.MISSHAPEN, None, (4, 4), "bool"))),
    "an input without a gradient": (_PLAN, _instead("input:x", Seen(Presence.NONE))),
}
_OTHERS = {"W_value": "q_proj.weight"}
_FORGED: dict[str, tuple[Plan, Event, str]] = {
    "places without weights": (_WITHOUT, BuildSeen("d_in=3", places="x"), "given no weights"),
    "choices without weights": (_WITHOUT, BuildSeen("d_in=3", choices=2), "given no weights"),
    "zeroed without weights": (_WITHOUT, BuildSeen("d_in=3", zeroed=("b",)), "given no weights"),
    "a mapping without weights": (_WITHOUT, BuildSeen("d_in=3", _MAPPING), "places for other weights"),
    "initial values without weights": (_WITHOUT, BuildSeen("d_in=3", initial=_BUILT.initial), "nobody asked for"),
    "a mapping where it should have raised": (_REFUSING, BuildSeen("d_in=3", _MAPPING), "places for other weights"),
    "unused where it should have raised": (_REFUSING, BuildSeen("d_in=3", unused=("b",)), "nobody looked at"),
    "a mapping of a model of ours": (_MODEL, BuildSeen("d_in=3", _MAPPING), "places for other weights"),
    "plain tensors of a model of ours": (_MODEL, BuildSeen("d_in=3", loose=("b",)), "nobody looked at"),
    "another weight": (_PLAN, replace(_BUILT, mapping={**_MAPPING, **_OTHERS}), "places for other weights"),
    "a weight too few": (_PLAN, replace(_BUILT, mapping={"W_query": "q"}), "places for other weights"),
    "initial values of another weight": (_PLAN, replace(_BUILT, initial={"W_key": (0.0, 1.0)}), "nobody asked for"),
    "initial values unasked": (attention_plan(), _BUILT, "nobody asked for"),
    "a deviation below zero": (_PLAN, replace(_BUILT, initial={"W_query": (0.0, -1.0)}), "below zero"),
    "an assignment of another weight": (_PLAN, replace(_BUILT, places="W_value=1"), "describes an assignment"),
    "an assignment of nothing": (_PLAN, replace(_BUILT, places="x"), "describes an assignment"),
    "a mapping beside an error": (_PLAN, replace(_ENDED, mapping=_MAPPING), "tells of its weights"),
    "an assignment beside an error": (_PLAN, replace(_ENDED, places="W_query=1"), "tells of its weights"),
    "unused beside an error": (_PLAN, replace(_ENDED, unused=("b",)), "nobody looked at"),
    "a construction that raised in a call": (_PLAN, replace(_ENDED, raised=_RAISED), "not one of a construction"),
    "a gradient of integers": (_PLAN, _of_dtype("weight:W_query", torch.int64), "came as int64"),
    "a gradient of truths": (_PLAN, _of_dtype("input:x", torch.bool), "came as bool"),
    "an output of integers": (_PLAN, _of_dtype("output:context", torch.int32), "came as int32"),
    "an output without a gradient": (_PLAN, _instead("output:context", Seen(Presence.NONE)), "has no gradient"),
    "a right shape called wrong": (
        _PLAN,
        _instead("input:x", Seen(Presence.MISSHAPEN, None, (4, 3), "float32")),
        "as announced",
    ),
    "a modified number": (_PLAN, replace(_CALLED, modified=("dim",)), "not one of its tensors"),
    "a size that nobody measured": (_PLAN, replace(_CALLED, largest=5), "nobody measured"),
    "a call that raised in a construction": (
        _PLAN,
        CallSeen("small/base", raised=replace(_RAISED, stage=Stage.CONSTRUCT)),
        "not one of a call",
    ),
    "outputs of a call that raised": (_PLAN, replace(_CALLED, raised=_RAISED), "what comes later"),
    "no outputs of a call whose backward pass raised": (
        _PLAN,
        CallSeen("small/base", raised=replace(_RAISED, stage=Stage.BACKWARD)),
        "only some of what came before",
    ),
}


@pytest.mark.parametrize(("plan", "event"), _HONEST.values(), ids=_HONEST)
def test_what_can_be_seen_is_taken(plan: Plan, event: Event) -> None:
    """The forged answers are these, changed in one thing."""
    (read,) = FrameReader(plan).feed(pack(event, plan))

    assert type(read) is type(event)


@pytest.mark.parametrize(("plan", "event", "reason"), _FORGED.values(), ids=_FORGED)
def test_what_cannot_be_seen_is_refused(plan: Plan, event: Event, reason: str) -> None:
    """Each field is held against the plan, and the refusal says what was wrong."""
    with pytest.raises(BadAnswer, match=reason):
        FrameReader(plan).feed(pack(event, plan))
