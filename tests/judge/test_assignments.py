"""Weights that are looked for by what they do: what is tried, what is found, and what it costs."""

from __future__ import annotations

from grader.box.cancel import CancelToken
from grader.box.inline import InlineBox
from grader.box.plan import Plan
from grader.box.run import Limits, Progress, Run
from grader.exercise.catalog import ROOT, read_exercise
from grader.judge.grade import grade
from grader.judge.placing import FOUND
from grader.judge.report import Report


class _Counting(InlineBox):
    """A plain box that keeps the number of constructions of each plan."""

    def __init__(self) -> None:
        super().__init__()
        self.builds: list[int] = []

    def run(
        self,
        plan: Plan,
        source: str,
        limits: Limits,
        progress: Progress | None = None,
        *,
        cancel: CancelToken | None = None,
    ) -> Run:
        self.builds.append(len(plan.builds))
        return super().run(plan, source, limits, progress, cancel=cancel)


def _graded(example: str) -> tuple[Report, list[int]]:
    name, _, stem = example.partition("/")
    exercise, box = read_exercise(ROOT / "exercises" / name), _Counting()
    source = (exercise.folder / "examples" / f"{stem}.py").read_text(encoding="utf-8")
    return grade(exercise, source, seed=3, box=box), box.builds


def test_a_layout_that_no_shape_tells_is_found_in_a_second_run() -> None:
    """The assignments are tried in one plan of small calls; what agrees is used for all, and the report says so."""
    report, builds = _graded("causal_self_attention/right_parts_inside_of_heads")

    assert report.score == 100
    assert len(builds) == 3
    assert FOUND in report.mapping["W_query"]


def test_a_wrong_answer_has_its_assignments_tried_on_a_few_constructions_only() -> None:
    """Six orders of a fused projection in three constructions: none agrees, and the first run stands."""
    report, builds = _graded("causal_self_attention/wrong_scale_times_d_k")

    assert report.score < 100
    assert builds[1] == 18


def test_names_that_decide_cost_no_further_run() -> None:
    """Four layers under the contract's names leave nothing to try; the second run finds the line of the mistake."""
    report, builds = _graded("multi_head_attention/wrong_added_mask")

    assert report.score < 100
    assert builds[1:] == [1]
