"""Whatever a child may forge, if the reader takes it, the judge gives a verdict on it without a fault of ours."""

from __future__ import annotations

import logging
import random
from functools import cached_property

import pytest

from grader.checks.finding import Verdict
from grader.examples import read_examples
from grader.exercise.catalog import ROOT, Catalog, Exercise
from grader.exercise.mistakes import Mistake
from grader.judge.attempt import FAULT
from grader.judge.explain.budget import Budget
from grader.judge.grade import decide
from grader.judge.report import Report
from grader.judge.sheet import draw_up
from tests.judge.forged import Forging

# How long a search for mistakes goes on changes nothing of what it does with damage, so it goes through few.
_BUDGET = Budget(search=2_000, location=2_000, comparisons=20_000, rerun_seconds=0.0)
_ROUNDS, _MORE_ROUNDS = 5, 24
_COMPLETED = 0.2  # of the reports, with what is told after the verdict
_EXERCISES = sorted(path.parent.name for path in (ROOT / "exercises").glob("*/exercise.toml"))
# With and without weights, with initial values, with outputs that are truths, with names that leave choices.
_OFTEN = {
    *("causal_attention", "causal_mask", "learned_encoding", "multiplicative_attention"),
    *("self_attention_parameters", "sinusoidal_encoding"),
}


class _OneMistakeAStep(Exercise):
    """An exercise with one known mistake for each step: damage is compared with all kinds, and with few of a kind."""

    @cached_property
    def mistakes(self) -> tuple[Mistake, ...]:
        """The first of those that replace the same step."""
        return tuple({wrong.replaces: wrong for wrong in reversed(super().mistakes)}.values())


def _sources(exercise: Exercise) -> list[str]:
    wrong = [example.path for example in read_examples(exercise.folder) if example.loses is not None]
    return [path.read_text(encoding="utf-8") for path in (exercise.reference_path, *wrong[:3])]


def _faults(report: Report) -> list[str]:
    broken = [check.name for check in report.checks if check.status is Verdict.BROKEN]
    return [
        *broken,
        *(text for text in report.advice if FAULT in text),
        *([report.incident] if report.incident else []),
    ]


@pytest.mark.parametrize("name", _EXERCISES)
def test_no_forged_answer_is_a_fault_of_ours(name: str, catalog: Catalog, caplog: pytest.LogCaptureFixture) -> None:
    """Nothing raises or breaks, no part is missing, and nothing is logged as an error of the grader.

    Every report can be stored and shows no hidden character; what is not answered earns no full marks.
    """
    whole, draw = catalog[name], random.Random(11)
    exercise = _OneMistakeAStep(whole.id, whole.spec, whole.folder, whole.reference_path)
    scored = frozenset(f"{item.case.name}/base" for item in draw_up(exercise, 0).items if item.points)
    rounds, sources, taken, refused = _MORE_ROUNDS if name in _OFTEN else _ROUNDS, _sources(exercise), 0, 0
    with caplog.at_level(logging.ERROR, logger="grader"):
        for seed in range(rounds):
            box = Forging(draw, scored)
            report, complete = decide(exercise, draw.choice(sources), seed=seed, box=box, budget=_BUDGET)
            if complete is not None and draw.random() < _COMPLETED:
                report = complete()
            taken, refused = taken + box.taken, refused + box.forged - box.taken

            assert _faults(report) == []
            assert 0 <= report.score < 100 or not all(box.lacking)
            assert Report.from_json(report.to_json()).to_json() == report.to_json()  # a picture may hold NaN
            assert not {"\u202e", "\x1b", "\x00", "\ud800"} & set(str(report))

    assert [entry.getMessage() for entry in caplog.records] == []
    assert name not in _OFTEN or min(taken, refused) > rounds  # both happen, so neither the reader nor the judge idles
