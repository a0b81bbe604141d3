"""Whatever a child may forge, if the reader takes it, the judge gives a verdict on it without a fault of ours."""

from __future__ import annotations

import logging
import random

import pytest

from grader.checks.finding import Verdict
from grader.examples import read_examples
from grader.exercise.catalog import Catalog, Exercise
from grader.judge.explain.budget import Budget
from grader.judge.grade import decide
from grader.judge.optional_parts import FAULT
from grader.judge.report import Report
from tests.judge.forged import Forging

_ROUNDS = 24  # of each exercise
_COMPLETED = 0.1  # of the reports, with what is told after the verdict
_BUDGET = Budget(search=2_000, location=2_000, comparisons=20_000, rerun_seconds=0.0)
# With and without weights, with initial values, with outputs that are truths, with names that leave choices.
_EXERCISES = (
    "causal_attention",
    "causal_mask",
    "learned_encoding",
    "multiplicative_attention",
    "self_attention_parameters",
    "sinusoidal_encoding",
)


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
    """Nothing raises, no check breaks, no part is missing, and nothing is logged as an error of the grader."""
    exercise, draw = catalog[name], random.Random(11)
    box, sources = Forging(draw), _sources(exercise)
    with caplog.at_level(logging.ERROR, logger="grader"):
        for seed in range(_ROUNDS):
            report, complete = decide(exercise, draw.choice(sources), seed=seed, box=box, budget=_BUDGET)
            if complete is not None and draw.random() < _COMPLETED:
                report = complete()

            assert _faults(report) == []
            assert Report.from_json(report.to_json()).to_json() == report.to_json()

    assert [entry.getMessage() for entry in caplog.records] == []
    assert min(box.taken, box.forged - box.taken) > _ROUNDS  # both happen, so neither the reader nor the judge idles
