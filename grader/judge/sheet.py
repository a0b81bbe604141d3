"""The grading sheet: every line of the report to come, and the plan that gathers the evidence for all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from grader.box.observe import alone
from grader.box.plan import Build, Call, Entry, Plan
from grader.checks.evidence import Item, Work
from grader.checks.registry import items_of
from grader.exercise.inputs import Case
from grader.exercise.spec import EntrySpec, Spec

if TYPE_CHECKING:  # a sheet needs cases, and not what they were drawn by
    from grader.exercise.catalog import Exercise


@dataclass(frozen=True, slots=True, eq=False)
class Sheet:
    """What will be judged (`items`), what must be run for it (`plan`), and which calls only advice needs (`free`)."""

    items: tuple[Item, ...]
    plan: Plan
    free: frozenset[str]

    def in_dtype(self, dtype: str) -> Sheet:
        """Return the same sheet with every float64 case run in `dtype`."""
        return replace(self, plan=self.plan.in_dtype(dtype))


def draw_up(exercise: Exercise, seed: int) -> Sheet:
    """Return the sheet of `exercise` with tensors drawn from `seed`.

    Raises:
        AuthorError: the exercise asks for a check that does not exist, or that has other options.
    """
    with alone():
        return of_cases(exercise.spec, exercise.cases(seed))


def of_cases(spec: Spec, cases: Mapping[str, Case]) -> Sheet:
    """Return the sheet of an exercise on cases that were drawn before; the same cases give the same sheet.

    Raises:
        AuthorError: the exercise asks for a check that does not exist, or that has other options.
    """
    items = tuple(items_of(spec, cases))
    wanted = [(item, item.check.work(item)) for item in items]
    calls = _merge(call for _, work in wanted for call in work.calls)
    paid = {call.name for item, work in wanted if item.points for call in work.calls if not call.non_contiguous}
    plan = Plan(
        entry=_entry(spec.entry),
        builds=_builds(wanted, calls),
        calls=calls,
        forbidden=spec.forbidden,
        parts={name: _entry(part.entry) for name, part in spec.parts.items()},
        initial_of=tuple(dict.fromkeys(name for _, work in wanted for name in work.initial_of)),
    )
    return Sheet(items, plan, frozenset(call.name for call in calls) - paid)


def _entry(spec: EntrySpec) -> Entry:
    return Entry(spec.name, spec.kind, spec.arguments, spec.constructor, dict(spec.defaults), spec.driver)


def _builds(wanted: Iterable[tuple[Item, Work]], calls: tuple[Call, ...]) -> tuple[Build, ...]:
    """Return each construction once: those that calls run on, and those that checks try by themselves."""
    used = {call.build for call in calls}
    builds: dict[str, Build] = {}
    for item, work in wanted:
        own = item.case.build
        for build in (*([own] if own is not None and own.name in used else []), *work.builds):
            builds.setdefault(build.name, build)
    return tuple(builds.values())


def _merge(calls: Iterable[Call]) -> tuple[Call, ...]:
    """Return each call once, in the order of first mention; with a backward pass, or measured, if any asks for it."""
    merged: dict[str, Call] = {}
    for call in calls:
        before = merged.get(call.name, call)
        fuller, most = call if call.grad_outputs else before, before.max_elements or call.max_elements
        merged[call.name] = fuller if fuller.max_elements == most else replace(fuller, max_elements=most)
    return tuple(merged.values())
