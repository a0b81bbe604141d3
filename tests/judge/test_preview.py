"""A source is read while its run goes on, and never before the run has shown that it compiles."""

from __future__ import annotations

from pathlib import Path

from grader.box.inline import InlineBox
from grader.box.observations import CallSeen, Observations
from grader.box.plan import Plan
from grader.box.run import Ending, Progress, Run
from grader.exercise.catalog import ROOT, read_exercise
from grader.judge import inspection
from grader.judge.grade import grade
from grader.judge.preview import Preview
from grader.judge.sheet import draw_up

_FUSED = "import torch.nn.functional as F\ndef scaled_dot_product_attention(q, k, v):\n    return F.softmax(q, -1)\n"


def _plan() -> Plan:
    return draw_up(read_exercise(ROOT / "exercises" / "scaled_dot_product_attention"), 1).plan


def test_a_source_whose_call_has_finished_is_read() -> None:
    """What is found then is kept for the report, which reads nothing a second time."""
    inspection._read.cache_clear()
    told: list[CallSeen] = []

    def run(plan: Plan, source: str, progress: Progress) -> Run:
        progress(CallSeen("case/base"))
        return Run(Observations(), Ending.FINISHED)

    preview, plan = Preview(run, told.append), _plan()
    preview.run(plan, _FUSED)
    preview.read(_FUSED, plan)
    assert [call.name for call in told] == ["case/base"]
    assert inspection._read.cache_info().currsize == 1


def test_a_source_that_never_got_to_a_call_is_left_alone() -> None:
    """The run is over without one: it may be no Python at all."""
    inspection._read.cache_clear()
    preview, plan = Preview(lambda plan, source, progress: Run(Observations(), Ending.CRASHED), None), _plan()
    preview.run(plan, _FUSED)
    preview.read(_FUSED, plan)
    assert inspection._read.cache_info().currsize == 0


def test_a_grade_reads_its_source_once() -> None:
    """Its report takes what was read beside the run."""
    inspection._read.cache_clear()
    exercise = read_exercise(ROOT / "exercises" / "scaled_dot_product_attention")
    source = Path(exercise.reference_path).read_text(encoding="utf-8")
    assert grade(exercise, source, seed=3, box=InlineBox()).score == 100
    assert (inspection._read.cache_info().misses, inspection._read.cache_info().hits) == (1, 1)
