"""Judges a whole sheet: every item once, after those that it builds on."""

from __future__ import annotations

from dataclasses import dataclass

from grader.checks.evidence import Evidence, Item
from grader.checks.finding import Finding, Verdict, skipped
from grader.checks.registry import CHECKS
from grader.exercise.spec import Dimension


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """An item with its finding."""

    item: Item
    finding: Finding

    @property
    def passed(self) -> bool:
        """Whether the item earned its points."""
        return self.finding.verdict is Verdict.PASSED

    @property
    def dimension(self) -> Dimension:
        """The dimension whose points it is about."""
        return CHECKS[self.item.spec.check].dimension


def judge(items: tuple[Item, ...], evidence: Evidence) -> tuple[Judged, ...]:
    """Return every item with its finding, in the order of the sheet."""
    done: dict[str, Finding] = {}

    def settle(item: Item) -> Finding:
        if item.name not in done:
            needs = CHECKS[item.spec.check].needs
            earlier = [o for kind in needs for o in items if o.spec.check == kind and o.case is item.case]
            blocker = next((other for other in earlier if settle(other).verdict is not Verdict.PASSED), None)
            if blocker is None:
                done[item.name] = CHECKS[item.spec.check].judge(item, evidence)
            elif done[blocker.name].verdict is Verdict.SKIPPED:
                done[item.name] = done[blocker.name]  # the cause is the same, and said once
            else:
                done[item.name] = skipped(f"because “{blocker.name}” did not pass")
        return done[item.name]

    return tuple(Judged(item, settle(item)) for item in items)
