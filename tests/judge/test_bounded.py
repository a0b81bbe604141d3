"""What is done after a verdict is bounded: our own work by a count, runs of the answer by the time that they take."""

from __future__ import annotations

from functools import partial

import pytest

from benchmarks.located import location, outcome_of
from grader.box.observations import Observations
from grader.box.plan import Plan
from grader.box.run import Ending, Run
from grader.exercise.catalog import Catalog
from grader.judge.bounded import spend, while_there_is_time, within
from grader.judge.effort import DESK
from tests.box.small import attention_plan
from tests.judge.wrong_in_parts import ATTENTION, change


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

    assert within(DESK.comparisons // 4, find) is not None
    assert within(DESK.comparisons // 100, find) is None


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
