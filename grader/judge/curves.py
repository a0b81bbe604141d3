"""Curves of a report: how large a forward pass gets, where a path of numbers leads; more are in `training_plots`."""

from __future__ import annotations

import math
from collections.abc import Sequence

from grader.box.keys import call_name
from grader.box.observations import CallSeen
from grader.checks.evidence import Evidence, Item
from grader.checks.memory import limit_of
from grader.checks.traits import Trait
from grader.judge.report import Curve, Series
from grader.judge.verdicts import Judged

_FEWEST = 2  # points that make a line
_MIB = 1 << 20


def path(judged: Sequence[Judged], evidence: Evidence) -> Curve | None:
    """Return an output that is one row of numbers made from no tensor; of a wrong case first."""
    for line in sorted(judged, key=lambda line: line.passed):
        item = line.item
        shown = item.has(Trait.SHOWS_OUTPUTS) and not item.case.wants
        if not shown or evidence.problem(call := evidence.call(item, "base")):
            continue
        slot = call.outputs[0]
        truth = evidence.truth(call, slot.key)
        if len(slot.shape) == 1 and slot.shape[0] >= _FEWEST and truth is not None:
            both = {"yours": evidence.output(call, slot), "expected": truth.double()}
            series = tuple(_numbered(name, values.tolist()) for name, values in both.items())
            return Curve(f"`{slot.name}`, {item.case.title}", slot.axes[0], slot.name, series)
    return None


def _numbered(name: str, values: Sequence[float]) -> Series:
    points = [(float(place), float(f"{value:.4g}")) for place, value in enumerate(values) if math.isfinite(value)]
    return Series(name, tuple(x for x, _ in points), tuple(y for _, y in points))


def memory(judged: Sequence[Judged], evidence: Evidence, grown_bytes: int) -> Curve | None:
    """Return the largest tensor against the length, where cases of several lengths were measured.

    `grown_bytes` is by how much the student's process grew over all calls, as seen from outside; 0 where nobody saw.
    """
    lines = [line for line in judged if line.item.has(Trait.SHOWS_MEMORY)]
    if len(lines) < _FEWEST:
        return None
    limit = limit_of(lines[0].item)
    axis = limit.partition("*")[0].strip()
    lines.sort(key=lambda line: _size(line.item, axis))
    below = limit.replace("*", " x ")
    series = (
        _series("yours", lines, axis, [_largest(evidence.observed.calls.get(_name(line.item))) for line in lines]),
        _series("expected", lines, axis, [_largest(evidence.expected.calls[_name(line.item)]) for line in lines]),
        _series(below, lines, axis, [evidence.call(line.item, "base").max_elements for line in lines]),
    )
    return Curve(
        title=f"Memory against {axis}",
        x=axis,
        y="elements of the largest tensor",
        series=tuple(one for one in series if one.xs),
        note=_note(lines, below, grown_bytes),
    )


def _name(item: Item) -> str:
    return call_name(item.case.name)


def _size(item: Item, axis: str) -> int:
    size = item.case.sizes[axis]
    assert isinstance(size, int)
    return size


def _largest(seen: CallSeen | None) -> int | None:
    return seen.largest if seen is not None else None


def _series(name: str, lines: Sequence[Judged], axis: str, values: Sequence[int | None]) -> Series:
    points = [(_size(line.item, axis), value) for line, value in zip(lines, values, strict=True) if value is not None]
    return Series(name, tuple(float(x) for x, _ in points), tuple(float(y) for _, y in points))


def _note(lines: Sequence[Judged], max_elements: str, grown_bytes: int) -> str:
    over = sum(not line.passed for line in lines)
    text = f"{over} of {len(lines)} sequences reach {max_elements}" if over else f"no tensor reaches {max_elements}"
    if grown_bytes <= 0:
        return text
    return f"{text}; the memory of the whole process grew by {grown_bytes / _MIB:.1f} MiB at most"
