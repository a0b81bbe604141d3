"""A position is told by angles, so only the distance between two of them matters."""

from __future__ import annotations

from pydantic import Field

from grader.checks.evidence import FLOORS, Evidence, Item, Options, Work, scale_of, variant_call
from grader.checks.finding import PASSED, Finding, failed
from grader.checks.registry import check
from grader.exercise.spec import Dimension

_OFFSETS = (1, 4, 7)  # first, second = first + step, third = second + step
_MOVED = 1e-3  # relative; a score that depends on the distance changes by far more


class ShiftOptions(Options):
    """`offset`, the argument that moves every position."""

    offset: str = Field(min_length=1)


def _shift_work(item: Item) -> Work:
    """Return calls at three offsets, the same step apart."""
    name = item.given(ShiftOptions).offset
    return Work(tuple(variant_call(item.case, f"at{offset}", arguments={name: offset}) for offset in _OFFSETS))


@check(
    "shift",
    "only the distance matters",
    Dimension.NUMERICS,
    work=_shift_work,
    after=[f"at{offset}" for offset in _OFFSETS],
    options=ShiftOptions,
)
def judge_shift(item: Item, evidence: Evidence) -> Finding:
    """Scores between two outputs must depend on how far apart their offsets are, and on nothing else about them.

    The first is scored against the second, the second against the third, and the first against the third.
    """
    calls = [evidence.call(item, f"at{offset}") for offset in _OFFSETS]
    first, second, third = (evidence.output(call, call.outputs[0]) for call in calls)
    near, moved, far = (
        one @ other.transpose(-2, -1) for one, other in ((first, second), (second, third), (first, third))
    )
    a, b, c = _OFFSETS
    size, floor = scale_of(near) or 1.0, FLOORS[calls[0].dtype]
    if not bool(((near - moved).abs() <= floor * size).all()):
        return failed(f"scores between offsets {a} and {b} must equal those between {b} and {c}; yours differ")
    if bool(((near - far).abs() <= _MOVED * size).all()):
        return failed(
            f"scores between offsets {a} and {b} must differ from those between {a} and {c}; yours are the same"
        )
    return PASSED
