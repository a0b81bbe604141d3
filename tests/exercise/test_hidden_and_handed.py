"""What every exercise that hides keys must try: scores far above the visible ones, scores of zero, long sequences.

The wrong answers are made from the references themselves, by another way to hide: so a new exercise is tried as well.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from grader.box.inline import observe_all
from grader.box.plan import Plan
from grader.checks.evidence import Evidence, Item
from grader.checks.finding import Finding, Verdict
from grader.checks.registry import checks
from grader.exercise.catalog import ROOT, Catalog
from grader.judge.sheet import draw_up

_SEED = 11
_LONG = 32  # no shorter than this; a buffer of 16 or 32 then shows
_FILL = re.compile(r'(\w+)\.masked_fill\((.*), float\("-inf"\)\)')


def _source(name: str) -> str:
    return (ROOT / "reference" / f"{name}.py").read_text(encoding="utf-8")


_NAMES = sorted(path.parent.name for path in ROOT.glob("exercises/*/exercise.toml"))
_HIDING = [name for name in _NAMES if _FILL.search(_source(name))]


def _findings(catalog: Catalog, name: str, check: str, source: str) -> list[Finding]:
    """Return what a kind of check finds in `source`; nothing else of it is run."""
    exercise = catalog[name]
    sheet = draw_up(exercise, _SEED)
    items = [item for item in sheet.items if item.spec.check == check and item.points]
    plan = _plan_of(sheet.plan, items)
    truth = observe_all(plan, exercise.reference())
    evidence = Evidence(plan, observe_all(plan, _loader(source)), truth, truth)
    return [checks()[check].judge(item, evidence) for item in items]


def _plan_of(plan: Plan, items: list[Item]) -> Plan:
    called = {call.name for item in items for call in checks()[item.spec.check].work(item).calls}
    return plan.only(frozenset(called))


def _loader(source: str) -> Callable[[], dict[str, Any]]:
    def load() -> dict[str, Any]:
        names: dict[str, Any] = {"__name__": "answer"}
        exec(compile(source, "answer.py", "exec"), names)
        return names

    return load


def test_the_references_that_hide_are_found() -> None:
    """Else the tests below try nothing."""
    assert {"causal_attention", "flash_attention", "kv_cache", "copy_task"} <= set(_HIDING)
    assert len(_HIDING) >= 17


@pytest.mark.parametrize("amount", [30.0, 103.3, 1000.0, 1e4, 1e5])
@pytest.mark.parametrize("name", _HIDING)
def test_a_number_added_where_it_is_hidden_is_not_enough(catalog: Catalog, name: str, amount: float) -> None:
    """-30 is as wrong as -100000: some hidden key scores higher than that."""
    source = _FILL.sub(lambda fill: f"({fill[1]} + ({fill[2]}).to({fill[1]}.dtype) * -{amount})", _source(name))

    found = _findings(catalog, name, "outscored", source)

    assert Verdict.FAILED in [finding.verdict for finding in found]


@pytest.mark.parametrize("name", _HIDING)
def test_a_billion_is_enough_and_so_is_the_reference(catalog: Catalog, name: str) -> None:
    """Which fill value hides is a matter of taste, as long as it does."""
    source = _FILL.sub(r"\1.masked_fill(\2, -1e9)", _source(name))

    found = _findings(catalog, name, "outscored", source)

    assert [(finding.verdict, finding.message) for finding in found] == [(Verdict.PASSED, "")]


@pytest.mark.parametrize("name", _HIDING)
def test_zero_does_not_mean_hidden(catalog: Catalog, name: str) -> None:
    """A visible score may be exactly zero: some query of every exercise has one."""
    hidden = "(lambda z: z.masked_fill(z == 0, float('-inf')))"
    source = _FILL.sub(lambda fill: f"{hidden}({fill[1]}.masked_fill({fill[2]}, 0.0))", _source(name))

    found = _findings(catalog, name, "values", source)

    assert Verdict.FAILED in [finding.verdict for finding in found]


@pytest.mark.parametrize("name", _HIDING)
def test_long_sequences_are_tried_where_the_answer_makes_the_mask(catalog: Catalog, name: str) -> None:
    """A mask that has room for 16 or 32 positions does not do."""
    spec = catalog[name].spec
    if any("mask" in argument for argument in spec.entry.arguments):
        pytest.skip("the mask is given, in the size that it needs")
    compared = {case for check in spec.checks if check.check in ("values", "shape") for case in check.cases}
    sizes = [case.sizes for case in spec.cases if case.name in compared]

    assert any(size > _LONG for case in sizes for axis, size in case.items() if axis in _TIME and isinstance(size, int))


_TIME = ("time", "queries", "query")


@pytest.mark.parametrize("name", _NAMES)
def test_what_the_caller_handed_over_is_looked_at(catalog: Catalog, name: str) -> None:
    """The check that says so counts, and is asked of every exercise."""
    points = sum(check.points for check in catalog[name].spec.checks if check.check == "steady")

    assert points > 0
