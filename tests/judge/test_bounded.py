"""What is done after a verdict is bounded: our own work by a count, runs of the answer by the time that they take."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial

import pytest

from benchmarks.located import location, outcome_of
from grader.box.observations import Observations
from grader.box.plan import Plan
from grader.box.run import Ending, Run
from grader.exercise.catalog import ROOT, Catalog
from grader.judge.explain.budget import USUAL, spend, while_there_is_time, within
from grader.judge.grade import decide
from grader.judge.report import Status
from tests.box.small import attention_plan
from tests.judge.boxes import TellingBox
from tests.judge.wrong_in_parts import ATTENTION, change


def _slow(seconds: float) -> TellingBox:
    """Return a box in which each run takes so many seconds."""
    return TellingBox(lambda plan, honest: replace(honest(plan), cpu_seconds=seconds, wall_seconds=seconds))


def _endless(*, needed: bool = False) -> TellingBox:
    """Return a box in which a file that is loaded whole, or that has no end when it is not, uses up the time."""
    stopped = Run(Observations(), Ending.TIMEOUT)
    return TellingBox(lambda plan, honest: honest(plan) if plan.bare and not needed else stopped)


def test_a_training_beside_the_answer_costs_nothing_however_long_it_takes(catalog: Catalog) -> None:
    """The answer is graded without it, and told so; where it is needed, the time is over after the second run."""
    exercise = catalog["softmax"]
    source = (ROOT / "reference" / "softmax.py").read_text()

    report, _ = decide(exercise, source + "while True:\n    pass\n", seed=3, box=_endless())
    assert report.score == 100
    assert [one for one in report.advice if "graded without the statements that your answer does not need" in one]
    needing = _endless(needed=True)
    report, _ = decide(exercise, source + "while True:\n    pass\n", seed=3, box=needing)
    assert (report.status, report.score, len(needing.ran)) == (Status.TIMEOUT, 0.0, 2)


def _spend(*costs: int) -> str:
    for cost in costs:
        spend(cost)
    return "found"


def test_what_takes_too_much_work_finds_nothing() -> None:
    """Costs add up to the limit and no further; each search has its own."""
    assert within(10, lambda: _spend(4, 6)) == "found"
    assert within(10, lambda: _spend(4, 7)) is None
    assert within(10, lambda: (within(5, lambda: _spend(6)), within(9, lambda: _spend(9)))) == (None, "found")
    assert _spend(10**12) == "found"  # nobody bounds it


def test_a_search_that_ends_leaves_no_bound_behind() -> None:
    """Whatever it raises."""
    with pytest.raises(ZeroDivisionError):
        within(10, lambda: 1 // 0)

    assert _spend(10**12) == "found"


def test_comparisons_and_runs_of_the_reference_are_counted(catalog: Catalog) -> None:
    """The search for where an answer begins to differ ends by the count, and an ordinary one stays far below it."""
    exercise = catalog["causal_attention"]
    source = change(ATTENTION, ("q.shape[-1] ** 0.5", "(q.shape[-1] + 3)"))
    find = partial(location, exercise, source, outcome_of(exercise, source))

    assert within(USUAL.comparisons // 4, find) is not None
    assert within(USUAL.comparisons // 100, find) is None


def test_an_answer_is_not_run_again_once_its_runs_took_long() -> None:
    """The run that exceeds the time is the last; what is asked for then was stopped, and nothing ran."""
    ran: list[Plan] = []

    def run(plan: Plan) -> Run:
        ran.append(plan)
        return Run(Observations(), Ending.FINISHED, wall_seconds=3.0)

    limited = while_there_is_time(run, 5.0)
    endings = [limited(attention_plan()).ending for _ in range(4)]

    assert endings == [Ending.FINISHED, Ending.FINISHED, Ending.TIMEOUT, Ending.TIMEOUT]
    assert len(ran) == 2


def test_a_verdict_does_not_hang_on_how_long_the_runs_take(catalog: Catalog) -> None:
    """Names that say nothing, float32 by name and a wrong result ask for many runs; all of them are made."""
    source = (ROOT / "exercises/multi_head_attention/examples/right_names_say_nothing.py").read_text(encoding="utf-8")
    source = source.replace("softmax(scores", "softmax(1.1 * scores") + "\nSINGLE = torch.float32\n"
    seen = []
    for seconds in (0.1, 8.0):
        box = _slow(seconds)
        report, _ = decide(catalog["multi_head_attention"], source, seed=3, box=box)
        seen.append((len(box.ran), report.checks))

    assert seen[0] == seen[1]
    assert seen[0][0] > 3


def test_what_was_asked_in_float32_is_not_asked_again_in_float32(catalog: Catalog) -> None:
    """As a training is, which takes long, nor what was asked in half precision; what was asked in float64 is."""
    source = (ROOT / "exercises/softmax/examples/right_insists_on_float32.py").read_text(encoding="utf-8")
    box = _slow(0.1)
    report, _ = decide(catalog["softmax"], source, seed=3, box=box)

    asked = Counter(call.name for plan in box.ran for call in plan.calls)
    single = {call.name for call in box.ran[0].calls if call.dtype != "float64"}
    assert (report.score, report.dtype) == (100.0, "float32")
    assert {asked[name] for name in single} == {1}
    assert {asked[call.name] for call in box.ran[0].calls if call.name not in single} == {3}
