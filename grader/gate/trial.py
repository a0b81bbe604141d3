"""An exercise on trial: all that the gate asks more than once."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import torch
from torch import Tensor

from grader.box.observations import CallSeen, Observations
from grader.box.plan import Plan
from grader.box.run import Box, Limits
from grader.checks.evidence import Evidence
from grader.examples import Example, read_examples
from grader.exercise.catalog import Exercise
from grader.exercise.spec import Dimension
from grader.judge.attempt import Outcome, attempt, tell
from grader.judge.explain.diagnosis import MistakeRuns, causes
from grader.judge.grade import grade, observe_reference
from grader.judge.report import Diagnosis, Report, Status
from grader.judge.sheet import Sheet, draw_up
from grader.judge.source import read_source


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """An exercise on trial, with all that the gate asks more than once.

    Attributes:
        truth: the reference's observations, held against themselves.
        known: by mistake, what it gives on the whole plan; empty until `with_mistakes`.
        graded: the reports on examples so far, by path.
    """

    exercise: Exercise
    seed: int
    box: Box
    sheet: Sheet
    truth: Evidence
    examples: Sequence[Example]
    known: Mapping[str, Observations] = field(default_factory=dict)
    graded: dict[Path, Report] = field(default_factory=dict)

    def with_mistakes(self) -> Trial:
        """Return this trial with every known mistake observed; a diagnosis then compares, and runs none of them."""
        plan, wrong = self.sheet.plan.untrained(), self.exercise.mistakes
        alike = {_content(seen): seen for seen in self.truth.expected.calls.values()}
        runs = MistakeRuns(self.exercise, wrong, plan)
        known = {one.name: _shared(runs.observe(one), alike) for one in wrong}
        return replace(self, known=known)

    def grade(self, source: str | bytes) -> Report:
        """Return the report on `source`, as a student would get it."""
        return grade(self.exercise, source, seed=self.seed, box=self.box)

    def judge(self, example: Example) -> Report:
        """Return the report on `example` without its pictures, and diagnosed only where its header names a mistake.

        All examples share the reference's observations and what searches find, and the search for mistakes that nobody
        asks for is left out: that is most of what a report costs. What must lose elsewhere than in learning trains no
        model. An example is graded once, whoever asks.
        """
        if example.path not in self.graded:
            self.graded[example.path] = self._judge(example)
        return self.graded[example.path]

    def _judge(self, example: Example) -> Report:
        limits = Limits(**self.exercise.spec.limits.model_dump())
        source = read_source(example.path.read_bytes(), limit_bytes=limits.source_bytes)
        sheet = self.sheet if example.loses in (None, Dimension.LEARNING) else _untrained(self.sheet)
        truth = partial(self._observed, sheet)
        outcome = attempt(sheet, source, partial(self.box.run, limits=limits), truth)
        report = tell(Report(self.exercise.id, Status.REJECTED, 0.0, self.seed, "cpu", 0.0), outcome)
        return replace(report, diagnosis=self._diagnosis(report, outcome) if example.diagnosis else ())

    def _diagnosis(self, report: Report, outcome: Outcome) -> tuple[Diagnosis, ...]:
        return causes(self.exercise, outcome, report.lost, self.known)

    def _observed(self, sheet: Sheet, plan: Plan) -> tuple[Observations, Observations]:
        """Return the reference's observations of the sheet's plan, or of the same plan in another dtype."""
        if plan is sheet.plan:
            return self.truth.expected, self.truth.rounded
        return observe_reference(self.exercise, plan)


def open_trial(exercise: Exercise, seed: int, box: Box) -> Trial:
    """Draw up the sheet, and run the reference.

    Raises:
        AuthorError: the exercise is written wrongly.
    """
    sheet = draw_up(exercise, seed)
    expected, rounded = observe_reference(exercise, sheet.plan)
    return Trial(
        exercise=exercise,
        seed=seed,
        box=box,
        sheet=sheet,
        truth=Evidence(sheet.plan, expected, expected, rounded, sheet.free),
        examples=read_examples(exercise.folder),
    )


def _untrained(sheet: Sheet) -> Sheet:
    """Return the sheet without what is trained, of which the truth holds nothing anyway."""
    items = tuple(item for item in sheet.items if not sheet.plan.contract(item.case.part).kind.trains)
    return sheet if len(items) == len(sheet.items) else replace(sheet, items=items, plan=sheet.plan.untrained())


def _shared(observed: Observations, alike: dict[Hashable, CallSeen]) -> Observations:
    """Return what was observed with one object for all calls that gave the same, bit for bit.

    Most mistakes change nothing in most calls, so that most comparisons of two are one that was made before.
    """
    calls = {name: alike.setdefault(_content(seen), seen) for name, seen in observed.calls.items()}
    return replace(observed, calls=calls)


def _content(seen: CallSeen) -> Hashable:
    slots = ((key, s.presence, s.shape, s.dtype, s.what, _bytes(s.tensor)) for key, s in sorted(seen.slots.items()))
    return seen.name, seen.raised, seen.modified, seen.largest, seen.trace, *slots


def _bytes(tensor: Tensor | None) -> bytes | None:
    return None if tensor is None else tensor.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
