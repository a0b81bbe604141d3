"""What is done after a verdict is bounded: our own work by a count, runs of the answer by the time that they take."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial

import pytest

from benchmarks.located import location, outcome_of
from grader.box.cancel import CancelToken
from grader.box.inline import InlineBox
from grader.box.observations import Observations
from grader.box.plan import Plan
from grader.box.run import Ending, Limits, Progress, Run
from grader.exercise.catalog import ROOT, Catalog
from grader.judge.bounded import spend, while_there_is_time, within
from grader.judge.effort import DESK
from grader.judge.grade import decide
from tests.box.small import attention_plan
from tests.judge.wrong_in_parts import ATTENTION, change


@dataclass(frozen=True)
class _Asleep:
    """A box in which a file sleeps for nearly as long as a run may take, each time that it is loaded."""

    wall_seconds: float
    ran: list[Plan] = field(default_factory=list)
    name: str = "asleep"

    def run(
        self,
        plan: Plan,
        source: str,
        limits: Limits,
        progress: Progress | None = None,
        *,
        cancel: CancelToken | None = None,
    ) -> Run:
        """Run at once, and say that it took long."""
        self.ran.append(plan)
        return replace(InlineBox().run(plan, source, limits), cpu_seconds=0.1, wall_seconds=self.wall_seconds)


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


def test_who_sleeps_in_every_run_keeps_a_worker_for_three_at_most(catalog: Catalog) -> None:
    """Names that say nothing, float32 by name and a wrong result ask for many runs; sleep takes no processor time."""
    source = (ROOT / "exercises/multi_head_attention/examples/right_names_say_nothing.py").read_text(encoding="utf-8")
    source = source.replace("softmax(scores", "softmax(1.1 * scores") + "\nSINGLE = torch.float32\n"
    runs = {}
    for seconds in (0.2, 7.5, 8.0):
        box = _Asleep(seconds)
        decide(catalog["multi_head_attention"], source, seed=3, box=box)
        runs[seconds] = len(box.ran)

    assert runs == {0.2: 4, 7.5: 3, 8.0: 2}
