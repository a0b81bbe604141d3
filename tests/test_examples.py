"""Submissions kept as examples get the verdict at their top, through the real box, whatever the seed.

Here are one in thirteen, of nearly every exercise; the gate grades all of them, in `tests/test_gate.py`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.errors import AuthorError
from grader.examples import Example, read_examples
from grader.exercise.catalog import ROOT, Catalog
from grader.gate.prove import Trial
from grader.judge.report import Report, Status

_EXAMPLES = {
    f"{folder.name}/{example.path.stem}": (folder.name, example)
    for folder in sorted((ROOT / "exercises").iterdir())
    for example in read_examples(folder)
    if example.path.stem.startswith(("right_p", "wrong_n"))
}


def _verdict(report: Report, example: Example) -> tuple[str, ...]:
    """Return what the example's header can say about a report: full marks, or lost points and a diagnosis."""
    if example.loses is None:
        lines = (f"{check.name}: {check.message}" for check in report.checks if check.message)
        return ("full marks",) if report.score == 100 else (f"{report.score:g}", report.reason, *lines)
    points = report.dimensions.get(example.loses)
    lost = report.score < 100 and (points is None or points.earned < points.possible)
    named = (diagnosis.mistake for diagnosis in report.diagnosis) if example.diagnosis else ()
    return ("loses" if lost else "keeps", example.loses, *sorted(named))


def _wanted(example: Example) -> tuple[str, ...]:
    if example.loses is None:
        return ("full marks",)
    return ("loses", example.loses, *sorted(example.diagnosis))


@pytest.mark.parametrize(("exercise", "example"), _EXAMPLES.values(), ids=_EXAMPLES.keys())
def test_an_example_gets_its_verdict(exercise: str, example: Example, trial_of: Callable[[str], Trial]) -> None:
    """Right ones earn full marks; wrong ones lose where they say, and the mistake is named where they name it.

    None of them is worth a look: what is noticed while they run is none of theirs.
    The mistake is searched for as for a student; of known mistakes the gate compares what it has observed before.
    """
    report = trial_of(exercise).judge(example)

    assert report.incident == ""
    assert report.status in (Status.GRADED, Status.UNGRADABLE, Status.REJECTED)
    assert _verdict(report, example) == _wanted(example)
    assert report.clues == ()


def test_every_exercise_has_examples_of_both_kinds(catalog: Catalog) -> None:
    """A right one shows what must be accepted, a wrong one what must be caught."""
    for name, exercise in catalog.items():
        kinds = {example.loses is None for example in read_examples(exercise.folder)}
        assert kinds == {True, False}, name


def test_an_example_without_a_verdict_is_an_authors_error(tmp_path: Path) -> None:
    """The first line of an example says what it must get."""
    (tmp_path / "examples").mkdir()
    (tmp_path / "examples" / "odd.py").write_text("# verdict: fine, I think\n", encoding="utf-8")

    with pytest.raises(AuthorError, match="must begin with `# verdict: full marks`"):
        read_examples(tmp_path)


def test_an_example_may_be_a_notebook(tmp_path: Path) -> None:
    """The header is in its first code cell, whatever text stands above; what is no notebook says so."""
    cells = [
        {"cell_type": "markdown", "source": ["# Softmax"]},
        {"cell_type": "code", "source": ["# verdict: loses numerics\n", "# diagnosis: no_scaling\n", "import torch"]},
    ]
    (tmp_path / "examples").mkdir()
    (tmp_path / "examples" / "wrong_notebook.ipynb").write_text(json.dumps({"cells": cells}), encoding="utf-8")

    (example,) = read_examples(tmp_path)

    assert (example.loses, example.diagnosis) == ("numerics", ("no_scaling",))

    (tmp_path / "examples" / "broken.ipynb").write_text("{", encoding="utf-8")
    with pytest.raises(AuthorError, match=r"broken\.ipynb"):
        read_examples(tmp_path)
