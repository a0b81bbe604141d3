"""Says in which line code was that ran out of time: the call that did not end is made once more, and watched."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from grader.box.faults import STILL_RUNNING
from grader.box.observations import BuildSeen, CallSeen, Raised
from grader.judge.attempt import MUCH_PRINTED
from grader.judge.cause import Location
from grader.judge.retrace import Retrace

SECONDS = 1.0  # after which a line is told; the reference needs milliseconds for any call
_LOADING = 'A demonstration belongs under `if __name__ == "__main__":` or into another file.'
_PRINTS = "It prints a lot, and printing takes time: print less, then see whether it ends."
_CALL = "Look for a loop that never ends, or that goes over single numbers where one operation of torch does it."


def unfinished(again: Retrace) -> Location | None:
    """Return the line in which the first call that did not end was after a second; None where it cannot be told."""
    plan, seen = again.evidence.plan, again.evidence.observed
    call = next((one for one in plan.calls if one.name not in seen.calls), None)
    if call is None:
        return None
    watched = again.run(replace(plan.only(frozenset({call.name})), line_after=SECONDS)).observations
    raised = _told((watched.loading, watched.loaded.raised))
    begun = raised is None
    if raised is None:
        raised = _told((*_raised(watched.builds), *_raised(watched.calls)))
    if raised is None or raised.line is None:
        return None
    place = again.where(raised.line)
    when = f"In the case “{again.title(call)}”" if begun else "While your file was being loaded,"
    hint = _PRINTS if len(again.outcome.run.output) > MUCH_PRINTED else _CALL if begun else _LOADING
    message = f"{when} your code was still in {place} after {SECONDS:.0f} s. {hint}"
    return Location("", f"The time was over in {place}", message, raised.line)


def _told(places: Iterable[Raised | None]) -> Raised | None:
    return next((one for one in places if one is not None and one.type == STILL_RUNNING), None)


def _raised(parts: Mapping[str, BuildSeen] | Mapping[str, CallSeen]) -> Iterator[Raised | None]:
    return (part.raised for part in parts.values())
