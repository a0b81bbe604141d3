"""What a report says of weights that were not found by their names alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from grader.box.cancel import CancelToken
from grader.box.inline import InlineBox
from grader.box.plan import Plan
from grader.box.run import Limits, Progress, Run
from grader.exercise.catalog import ROOT, read_exercise
from grader.judge.grade import grade
from grader.judge.placing import UNTOLD

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


@dataclass(frozen=True)
class _Boasting:
    """A box in which each construction has assignments to choose from, whatever it was given."""

    name: str = "boasting"

    def run(
        self,
        plan: Plan,
        source: str,
        limits: Limits,
        progress: Progress | None = None,
        *,
        cancel: CancelToken | None = None,
    ) -> Run:
        """Run honestly, and tell of two assignments."""
        done = InlineBox().run(plan, source, limits, progress, cancel=cancel)
        builds = {name: replace(build, places="x", choices=2) for name, build in done.observations.builds.items()}
        return replace(done, observations=replace(done.observations, builds=builds))


def test_a_construction_without_weights_may_claim_assignments() -> None:
    """The search for the right one does not rely on the reader, which refuses that: it tries them, and none agrees."""
    exercise = read_exercise(ROOT / "exercises" / "sinusoidal_encoding")
    source = exercise.reference_path.read_text(encoding="utf-8").replace("angles.sin()", "angles.cos()")

    report = grade(exercise, source, seed=3, box=_Boasting())

    assert 0 < report.score < 100
    assert report.incident == ""


@dataclass
class _Slow(InlineBox):
    """A box whose runs take some seconds each, by their own account."""

    seconds: float
    runs: int = 0

    def run(self, *arguments: Any, **options: Any) -> Run:
        """Run, and count it."""
        self.runs += 1
        return replace(super().run(*arguments, **options), cpu_seconds=self.seconds)
