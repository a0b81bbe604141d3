"""Weights that are not found by their names alone: what is tried, what that costs, and what the report says."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from grader.box.inline import InlineBox
from grader.box.plan import Plan
from grader.box.run import Run
from grader.exercise.catalog import ROOT, read_exercise
from grader.judge.grade import grade
from grader.judge.placing import FOUND, UNTOLD
from grader.judge.report import Report
from tests.judge.boxes import Honest, TellingBox

_UNSCALED = """
import torch
from torch import nn

class SelfAttention(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))

    def forward(self, x):
        return torch.softmax((x @ self.W_query) @ (x @ self.W_key).T, dim=-1) @ (x @ self.W_value)
"""


@pytest.mark.parametrize(("names", "told"), [("W_query W_key W_value", True), ("asks fits carries", False)])
def test_the_names_are_blamed_only_where_they_say_nothing(names: str, told: bool) -> None:
    """A wrong answer whose weights have the contract's names is not told that they say nothing."""
    source = _UNSCALED
    for old, new in zip(("W_query", "W_key", "W_value"), names.split(), strict=True):
        source = source.replace(f"self.{old}", f"self.{new}")

    report = grade(read_exercise(ROOT / "exercises" / "self_attention_parameters"), source, seed=3, box=InlineBox())

    assert report.score < 100
    assert (_untold(report.advice) == []) is told


def _untold(advice: Iterable[str]) -> list[str]:
    return [text for text in advice if text.startswith(UNTOLD.partition("{")[0])]


_APART = """
            self.U1 = nn.Linear(encoder_dim, decoder_dim, bias=False)
            self.U2 = nn.Linear(decoder_dim, decoder_dim, bias=False)
            self.W = lambda both: self.U1(both[..., :self.U1.in_features]) + self.U2(both[..., self.U1.in_features:])
"""


@pytest.mark.parametrize("apart", [False, True])
def test_the_advice_names_what_has_no_name_of_the_contract(apart: bool) -> None:
    """`W` stands for one weight in one method and for two in another; two layers for these two need other names."""
    exercise = read_exercise(ROOT / "exercises" / "multiplicative_attention")
    source = exercise.reference_path.read_text(encoding="utf-8").replace("torch.tanh(features)", "features.relu()")
    if apart:
        source = source.replace(
            "            self.W = nn.Linear(encoder_dim + decoder_dim, decoder_dim, bias=False)", _APART
        )

    report = grade(exercise, source, seed=3, box=InlineBox())

    assert 0 < report.score < 100
    assert _untold(report.advice) == ([UNTOLD.format(names="`W_h`, `W_s`")] if apart else [])


def _boasting(plan: Plan, honest: Honest) -> Run:
    """Tell of two assignments in each construction, whatever it was given."""
    done = honest(plan)
    builds = {name: replace(build, places="x", choices=2) for name, build in done.observations.builds.items()}
    return replace(done, observations=replace(done.observations, builds=builds))


def test_a_construction_without_weights_may_claim_assignments() -> None:
    """The search for the right one does not rely on the reader, which refuses that: it tries them, and none agrees."""
    exercise = read_exercise(ROOT / "exercises" / "sinusoidal_encoding")
    source = exercise.reference_path.read_text(encoding="utf-8").replace("angles.sin()", "angles.cos()")

    report = grade(exercise, source, seed=3, box=TellingBox(_boasting))

    assert 0 < report.score < 100
    assert report.incident == ""


def _graded(example: str) -> tuple[Report, list[int]]:
    """Return the report on an example, and the number of constructions of each plan that was run for it."""
    name, _, stem = example.partition("/")
    exercise, box = read_exercise(ROOT / "exercises" / name), TellingBox()
    source = (exercise.folder / "examples" / f"{stem}.py").read_text(encoding="utf-8")
    return grade(exercise, source, seed=3, box=box), [len(plan.builds) for plan in box.ran]


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
