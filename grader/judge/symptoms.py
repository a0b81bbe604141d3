"""Says what is wrong with an answer before any numbers are: it raises, gives no such tensor, refuses nothing.

What is said comes from running the answer once more on its smallest such call; it gives no points and takes none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from torch import Tensor

from grader.box.observations import Blame, Observations, Presence, Raised, Seen, Stage, Traced
from grader.box.plan import Call
from grader.checks.evidence import Trait
from grader.checks.explain import hint_of, message_of
from grader.judge import outline
from grader.judge.cause import Location
from grader.judge.retrace import Retrace
from grader.judge.text import capitalised, clean

_MOST_CHARACTERS = 160  # of an exception's message
_RETURNED = {  # by what came in place of a tensor, in the words of `seeing`
    "None": "None is returned: see {place}",
    "a ndarray": "A NumPy array is returned, not a tensor: see {place}",
    "ndarray": "A NumPy array is returned, not a tensor: see {place}",
}
_NAMED = re.compile(r"`([A-Za-z_][\w.]*)")


def failure(again: Retrace) -> Location | None:
    """Return where the smallest call that raises does so."""
    for call in again.counted():
        seen = again.evidence.observed.calls.get(call.name)
        built = again.evidence.observed.builds.get(call.build) if call.build else None
        if not (seen is not None and seen.raised) and not (built is not None and built.raised):
            continue
        now = again.traced(call)
        raised = _raised(now, call) if now is not None else None
        return _told_failure(again, call, raised) if raised is not None else None
    return None


def _raised(now: Observations, call: Call) -> Raised | None:
    built, seen = now.builds.get(call.build or ""), now.calls.get(call.name)
    return (built.raised if built is not None else None) or (seen.raised if seen is not None else None)


def _told_failure(again: Retrace, call: Call, raised: Raised) -> Location | None:
    if raised.blame is Blame.ARGUMENT:
        return _told_arguments(again, call, raised)
    if raised.blame is Blame.WEIGHTS:
        return _told_weights(again, call, raised)
    if raised.line is None:
        return None
    place = again.where(raised.line)
    said = clean(message_of(raised), limit=_MOST_CHARACTERS).rstrip(".…").rstrip()
    shapes, hint = _shapes(call), hint_of(raised)
    case = f"In the case “{again.title(call)}”{f', where {shapes},' if shapes else ''}"
    if raised.blame is Blame.FORBIDDEN:
        title = f"{capitalised(place)} calls what you are to write yourself"
        return Location("", title, f"{case} {said}.", raised.line)
    title = f"The backward pass fails at {place}" if raised.stage is Stage.BACKWARD else f"Your code fails at {place}"
    told = f"{case} {place} raises {raised.type}{f': {said}' if said else ''}{f'; {hint}' if hint else ''}."
    return Location("", title, told, raised.line)


def _told_arguments(again: Retrace, call: Call, raised: Raised) -> Location | None:
    entry = again.evidence.plan.contract(call.part)
    method = "__init__" if raised.stage is Stage.CONSTRUCT else "forward"
    line = outline.definition(again.text, entry.name, method)
    if line is None:
        return None
    title = f"`{entry.name}` at {again.where(line)} is not what the exercise asks for"
    return Location("", title, clean(raised.message, limit=400), line)


def _told_weights(again: Retrace, call: Call, raised: Raised) -> Location | None:
    """Point to the line that makes the weight, where only one assigns an attribute that is named."""
    for path in _NAMED.findall(raised.message):
        name = path.rstrip(".").removesuffix(".weight").removesuffix(".bias").rpartition(".")[2]
        lines = outline.assignments(again.text, name)
        if len(lines) == 1:
            fault = "has no bias" if "must have a bias" in raised.message else "is not what the exercise asks for"
            title = f"`{name}`, created at {again.where(lines[0])}, {fault}"
            message = f"In the case “{again.title(call)}”: {clean(raised.message, limit=400)}"
            return Location("", title, message, lines[0])
    return None


def misfit(again: Retrace) -> Location | None:
    """Return which line gives what is no tensor, or one of another shape or dtype than it must be."""
    for call in again.counted():
        seen = again.evidence.observed.calls.get(call.name)
        if seen is None or seen.raised is not None:
            continue
        for slot in call.outputs:
            found, dtype = seen.slots.get(slot.key), slot.dtype or call.dtype
            if found is None or (found.presence is Presence.TENSOR and found.dtype == dtype):
                continue
            wanted = f"a tensor of shape {_sizes(slot.shape)} in {dtype}"
            return _told_misfit(again, call, found, slot.name, wanted=wanted, dtype=dtype)
    return None


def _told_misfit(again: Retrace, call: Call, found: Seen, name: str, *, wanted: str, dtype: str) -> Location | None:
    alone = again.alone(call)
    line = _origin(alone.trace if alone is not None else (), found, call, dtype) or _only_return(again, call)
    if line is None:
        return None
    got = found.what or f"one of shape {_sizes(found.shape)} in {found.dtype}"
    place = again.where(line)
    title = _RETURNED.get(found.what, f"Your `{name}` does not match the exercise: see {place}").format(place=place)
    gives = f"{place} gives {got}."
    if found.what == "None":
        gives = f"your code returns None: see {place}. Is a `return` missing, or its value?"
    message = f"In the case “{again.title(call)}” `{name}` must be {wanted}, but {gives}"
    return Location("", title, message, line)


def _origin(trace: Iterable[Traced], found: Seen, call: Call, dtype: str) -> int | None:
    """Return the line that first gives the wrong dtype, or else the last one that gives the shape."""
    if found.presence is Presence.OTHER:
        return None
    results = list(trace)
    if found.dtype != dtype:
        if dtype != call.dtype:
            return None
        return next((result.line for result in results if result.dtype == found.dtype), None)
    return next((result.line for result in reversed(results) if tuple(result.values.shape) == found.shape), None)


def _only_return(again: Retrace, call: Call) -> int | None:
    name = again.evidence.plan.contract(call.part).name
    lines = outline.returns(again.text, name, "forward")
    return lines[0] if len(lines) == 1 else outline.definition(again.text, name, "forward") if not lines else None


def _shapes(call: Call) -> str:
    found = [f"`{n}` has shape {_sizes(tuple(v.shape))}" for n, v in call.arguments.items() if isinstance(v, Tensor)]
    return " and ".join(found[:2])


def _sizes(shape: tuple[int, ...]) -> str:
    return f"({', '.join(map(str, shape))})"


def refusal(again: Retrace) -> Location | None:
    """Return the constructor that accepts what it must refuse, or the line that refuses it in another way."""
    judged = (line.item for line in again.outcome.judged if not line.passed and line.item.has(Trait.REFUSES))
    failed = {f"refused: {build.name}" for item in judged if (build := item.case.build) is not None}
    for build in again.evidence.plan.builds:
        seen = again.evidence.observed.builds.get(build.name)
        if seen is None or build.name not in failed:
            continue
        entry = again.evidence.plan.contract(build.part)
        raised = seen.raised.line if seen.raised is not None and not seen.raised.cell else None
        line = raised or outline.definition(again.text, entry.name, "__init__")
        if line is None:
            return None
        given = ", ".join(f"{name}={value!r}" for name, value in build.arguments.items())
        did = f"raises {seen.raised.type}" if seen.raised is not None else "accepts it"
        fault = "raises another exception than it must" if seen.raised is not None else "accepts invalid arguments"
        place = again.where(line)
        return Location(
            "",
            f"`{entry.name}` {fault}: see {place}",
            f"With {given} the constructor must raise as the exercise says; yours {did}: see {place}.",
            line,
        )
    return None
