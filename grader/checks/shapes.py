"""Shapes: the right tensors come back, and impossible configurations are refused."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from grader.box.keys import call_name
from grader.box.plan import Build
from grader.checks.evidence import Check, Evidence, Item, Work, base_call, wanted_dtype
from grader.checks.explain import explain
from grader.checks.finding import PASSED, Finding, failed, skipped
from grader.checks.options import Options
from grader.checks.traits import Trait
from grader.exercise.spec import Dimension


class Shape(Check):
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
        if (problem := evidence.problem(call)) is not None:
            return problem
        for slot in call.outputs:
            found = evidence.seen(call).slots[slot.key]
            if found.dtype != (slot.dtype or call.dtype):
                return failed(f"`{slot.name}` must be {wanted_dtype(slot, call)}; yours is {found.dtype}")
        return PASSED


class RefusalOptions(Options):
    """`late`, the first call may refuse as well; `error`, the exception that it must be (else any will do)."""

    late: bool = False
    error: str = ""


class RefusesWrongArguments(Check):
    """A configuration that cannot work makes the constructor raise."""

    dimension: ClassVar = Dimension.SHAPES
    title: ClassVar[str] = "rejects invalid arguments"
    needs: ClassVar[tuple[str, ...]] = ()
    options: ClassVar = RefusalOptions
    traits: ClassVar = frozenset({Trait.REFUSES})

    def work(self, item: Item) -> Work:
        """Try the construction, and a call where the refusal may come that late."""
        build = _refused(item)
        call = replace(base_call(item.case), name=call_name(item.case.name, "refused"), build=build.name)
        return Work((call,) if item.given(RefusalOptions).late else (), (build,))

    def judge(self, item: Item, evidence: Evidence) -> Finding:
        """Look whether anything was raised."""
        options = item.given(RefusalOptions)
        seen = evidence.observed.builds.get(_refused(item).name)
        if seen is None:
            return skipped("because the run ended before this check")
        if not any(built.raised is None for built in evidence.observed.builds.values()):
            return skipped("because your constructor raises for every configuration")
        called = evidence.observed.calls.get(call_name(item.case.name, "refused"))
        raised = seen.raised or (called.raised if called else None)
        given = ", ".join(f"{name}={value!r}" for name, value in item.case.construct.items())
        wanted = f"with {given} your {'module' if options.late else 'constructor'} must raise"
        if raised is None:
            return failed(f"{wanted} {f'a {options.error}' if options.error else 'an error'}; yours accepts this")
        if options.error not in ("", raised.type):
            return failed(f"{wanted} a {options.error}; yours raised {explain(raised)}")
        return PASSED


def _refused(item: Item) -> Build:
    build = item.case.build
    assert build is not None, "only a module's constructor can refuse"
    return replace(build, name=f"refused: {build.name}", weights=(), must_raise=True)
