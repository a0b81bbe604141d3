"""Shapes: the right tensors come back, and impossible configurations are refused."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from grader.box.plan import Build
from grader.checks.evidence import Evidence, Item, Work, base_call
from grader.checks.finding import PASSED, Finding, failed, skipped
from grader.exercise.spec import Dimension


class Shape:
    """Every output is a plain tensor of the announced shape, in the input's dtype."""

    dimension: ClassVar = Dimension.SHAPES
    title: ClassVar[str] = "shape and dtype"
    needs: ClassVar[tuple[str, ...]] = ()

    def work(self, item: Item) -> Work:
        """Call once."""
        return Work((base_call(item.case),))

    def judge(self, item: Item, evidence: Evidence) -> Finding:
        """Compare type, shape and dtype of each output."""
        call = evidence.call(item, "base")
        if (trouble := evidence.trouble(call)) is not None:
            return trouble
        for slot in call.outputs:
            found = evidence.seen(call).slots[slot.key]
            if found.dtype != call.dtype:
                return failed(f"`{slot.name}` must be {call.dtype}, as the input is; yours is {found.dtype}")
        return PASSED


class Refusal:
    """A configuration that cannot work makes the constructor raise; any exception will do."""

    dimension: ClassVar = Dimension.SHAPES
    title: ClassVar[str] = "refuses what cannot work"
    needs: ClassVar[tuple[str, ...]] = ()

    def work(self, item: Item) -> Work:
        """Try the construction; nothing is called."""
        return Work(builds=(_refused(item),))

    def judge(self, item: Item, evidence: Evidence) -> Finding:
        """Look whether anything was raised."""
        seen = evidence.observed.builds.get(_refused(item).name)
        if seen is None:
            return skipped("because the run ended before it got here")
        if not any(built.raised is None for built in evidence.observed.builds.values()):
            return skipped("because your constructor raises for every configuration")
        if seen.raised is not None:
            return PASSED
        given = ", ".join(f"{name}={value}" for name, value in item.case.construct.items())
        return failed(f"with {given} your constructor must raise an error; it accepted them")


def _refused(item: Item) -> Build:
    build = item.case.build()
    assert build is not None, "only a module's constructor can refuse"
    return replace(build, name=f"refused: {build.name}", weights=(), refused=True)
