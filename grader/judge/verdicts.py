"""Judges a whole sheet: every item once, after those that it builds on.

A check whose judge raises is broken, by our fault, and never costs points. It gives them where it breaks on the truth
in the same way: then the submission had no part in it. Where it breaks on this submission only, giving them would pay
whoever finds out how; the report then stays open, and the points of the other checks count.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from types import TracebackType

from grader.checks.evidence import Evidence, Item
from grader.checks.finding import Finding, Verdict, skipped
from grader.errors import record
from grader.exercise.spec import Dimension

LOG = logging.getLogger(__name__)
_STOPS = (Verdict.FAILED, Verdict.SKIPPED)  # what builds on one that broke is looked at all the same


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """An item with its finding."""

    item: Item
    finding: Finding

    @property
    def passed(self) -> bool:
        """Whether the item earned its points."""
        return self.finding.verdict is Verdict.PASSED or self.finding.granted

    @property
    def dimension(self) -> Dimension:
        """The dimension whose points it is about."""
        return self.item.check.dimension


def judge(items: tuple[Item, ...], evidence: Evidence) -> tuple[Judged, ...]:
    """Return every item with its finding, in the order of the sheet."""
    done: dict[str, Finding] = {}
    by_kind: dict[tuple[str, int], list[Item]] = {}
    for item in items:
        by_kind.setdefault((item.spec.check, id(item.case)), []).append(item)

    def settle(item: Item) -> Finding:
        if item.name not in done:
            earlier = [other for kind in item.check.needs for other in by_kind.get((kind, id(item.case)), ())]
            blocker = next((other for other in earlier if _stops(settle(other))), None)
            if blocker is None:
                done[item.name] = _look(item, evidence)
            elif done[blocker.name].verdict is Verdict.SKIPPED:
                done[item.name] = done[blocker.name]  # the cause is the same, and said once
            else:
                done[item.name] = skipped(f"because “{blocker.name}” did not pass")
        return done[item.name]

    lines = tuple(Judged(item, settle(item)) for item in items)
    if all(line.finding.verdict is Verdict.BROKEN for line in lines):  # nothing was looked at: that is no pass
        return tuple(replace(line, finding=replace(line.finding, granted=False)) for line in lines)
    return lines


def _stops(finding: Finding) -> bool:
    return finding.verdict in _STOPS and not finding.alone


def _look(item: Item, evidence: Evidence) -> Finding:
    try:
        return item.check.judge(item, evidence)
    except Exception as fault:  # noqa: BLE001 - a judge has no reason to raise, so whatever it is, it is ours
        incident = record(LOG, f"the check “{item.name}” broke", fault)
        granted = _cause(fault) == _cause(_fault_on_the_truth(item, evidence))
    points = "you get its points" if granted else "its result is open"
    message = (
        f"it could not be checked because of an error in the grader; {points}. The id for your instructor is {incident}"
    )
    return Finding(Verdict.BROKEN, message, incident, granted)


def _fault_on_the_truth(item: Item, evidence: Evidence) -> Exception | None:
    try:
        item.check.judge(item, replace(evidence, observed=evidence.expected))
    except Exception as fault:  # noqa: BLE001 - as above
        return fault
    return None


def _cause(fault: Exception | None) -> tuple[type, str, int] | None:
    """Return what was raised, and in which line."""
    if fault is None:
        return None
    trace: TracebackType | None = fault.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return None if trace is None else (type(fault), trace.tb_frame.f_code.co_filename, trace.tb_lineno)
