"""`docs/exercises.md`: every exercise, what it is graded on, and how many known answers its gate holds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from grader.checks.registry import check_of
from grader.examples import read_examples
from grader.exercise.catalog import Catalog, Exercise
from grader.exercise.spec import Dimension

COMMAND = "attention-gym exercise table --write docs/exercises.md"
_TOP = f"""\
# The exercises

<!-- Generated; do not edit by hand. To renew it: {COMMAND} -->

{{exercises}} exercises in {{tracks}} tracks, in the order in which to do them. `make check` runs the gate of every
exercise. It accepts an exercise only if all of this holds:

- each *known mistake* loses points in its own dimension, and its report names that mistake alone and with certainty;
- each *right example* gets full marks, and each *wrong example* loses points where its first line says;
- trivial answers (zeros, means, copies of an input) do not get through.

So the numbers below count complete sets:
{{mistakes}} known mistakes, {{right}} right examples and {{wrong}} wrong examples in all.
"""
_HEAD = """\
| exercise | id | level | graded on | known mistakes | right examples | wrong examples |
|---|---|---|---|--:|--:|--:|
"""


@dataclass(frozen=True, slots=True)
class _Row:
    """One exercise with its counts."""

    exercise: Exercise
    mistakes: int
    right: int
    wrong: int

    @classmethod
    def of(cls, exercise: Exercise) -> _Row:
        right = [example.loses is None for example in read_examples(exercise.folder)]
        return cls(exercise, len(exercise.mistakes), right.count(True), right.count(False))

    def __str__(self) -> str:
        spec, id = self.exercise.spec, self.exercise.id
        title = f"[{spec.title}](../exercises/{id}/statement.md)"
        level = f"{spec.difficulty}, {spec.minutes} min"
        counts = f"{self.mistakes} | {self.right} | {self.wrong}"
        return f"| {title} | `{id}` | {level} | {', '.join(_dimensions(self.exercise))} | {counts} |\n"


def exercise_page(catalog: Catalog) -> str:
    """Return the page as Markdown."""
    rows = [_Row.of(exercise) for exercise in catalog.values()]
    tracks = [(track, list(members)) for track, members in groupby(rows, key=lambda row: row.exercise.spec.track)]
    top = _TOP.format(
        exercises=len(rows),
        tracks=len(tracks),
        mistakes=sum(row.mistakes for row in rows),
        right=sum(row.right for row in rows),
        wrong=sum(row.wrong for row in rows),
    )
    return top + "".join(_table(track, members) for track, members in tracks)


def _table(track: str, rows: Iterable[_Row]) -> str:
    return f"\n## {track}\n\n{_HEAD}{''.join(map(str, rows))}"


def _dimensions(exercise: Exercise) -> list[str]:
    """Return what points are given for, in the usual order."""
    paid = {check_of(check).dimension for check in exercise.spec.checks if check.points}
    return [dimension for dimension in Dimension if dimension in paid]
