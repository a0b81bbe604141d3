"""An exercise on trial: all that the gate asks more than once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader.box.inline import observe_all
from grader.box.observations import Observations
from grader.box.run import Box
from grader.checks.evidence import Evidence
from grader.examples import Example, read_examples
from grader.exercise.catalog import Exercise
from grader.judge.grade import grade, observe_reference
from grader.judge.report import Report
from grader.judge.sheet import Sheet, draw_up


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """An exercise on trial, with all that the gate asks more than once.

    Attributes:
        truth: the reference's observations, held against themselves.
        known: by mistake, what it gives on the whole plan.
    """

    exercise: Exercise
    seed: int
    box: Box
    sheet: Sheet
    truth: Evidence
    known: Mapping[str, Observations]
    examples: Sequence[Example]

    def grade(self, source: str | bytes) -> Report:
        """Return the report on `source`, as a student would get it."""
        return grade(self.exercise, source, seed=self.seed, box=self.box)


def open_trial(exercise: Exercise, seed: int, box: Box) -> Trial:
    """Draw up the sheet, and run the reference and every known mistake.

    Raises:
        AuthorError: the exercise is written wrongly.
    """
    sheet = draw_up(exercise, seed)
    plan = sheet.plan.untrained()
    expected, rounded = observe_reference(exercise, plan)
    return Trial(
        exercise=exercise,
        seed=seed,
        box=box,
        sheet=sheet,
        truth=Evidence(sheet.plan, expected, expected, rounded, sheet.free),
        known={wrong.name: observe_all(plan, exercise.reference(wrong)) for wrong in exercise.mistakes},
        examples=read_examples(exercise.id, exercise.folder.parents[1] / "tests" / "submissions"),
    )
