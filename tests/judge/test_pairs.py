"""Two mistakes in one submission are both named, three are not guessed at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from grader.box.inline import InlineBox
from grader.exercise.catalog import Catalog
from grader.exercise.mistakes import PatchableReference
from grader.judge.grade import grade
from grader.judge.report import Report

_ANSWER = """
import torch
from torch import nn

class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        q, k, v = self.W_query(x), self.W_key(x), self.W_value(x)
        scores = q @ k.mT SCALING
        future = torch.ones_like(scores, dtype=torch.bool).triu(DIAGONAL)
        weights = self.dropout(scores.masked_fill(future, -torch.inf).softmax(AXIS))
        return weights @ v
"""


def _report(catalog: Catalog, scaling: str, diagonal: str, axis: str) -> Report:
    source = _ANSWER.replace("SCALING", scaling).replace("DIAGONAL", diagonal).replace("AXIS", axis)
    return grade(catalog["causal_attention"], source, seed=11, box=InlineBox())


def _named(report: Report) -> list[tuple[str, bool]]:
    return sorted((found.mistake, found.certain) for found in report.diagnosis)


def test_two_mistakes_together_are_both_named(catalog: Catalog) -> None:
    """Neither explains the numbers alone; the reference with both steps replaced does."""
    report = _report(catalog, "", "2", "-1")

    assert _named(report) == [("no_scaling", True), ("sees_one_ahead", True)]


def test_a_single_mistake_is_not_called_two(catalog: Catalog) -> None:
    """Pairs are tried only where no mistake explains the numbers by itself."""
    assert _named(_report(catalog, "", "1", "-1")) == [("no_scaling", True)]


def test_three_mistakes_are_not_guessed_at(catalog: Catalog) -> None:
    """What two mistakes do not explain has no name; the checks say what they saw."""
    report = _report(catalog, "", "2", "0")

    assert report.score < 100
    assert report.diagnosis == ()


@pytest.fixture
def patchable(catalog: Catalog) -> PatchableReference:
    """Return the reference of causal attention with steps that can be replaced."""
    return catalog["causal_attention"].patchable()


def test_steps_are_put_back(patchable: PatchableReference, catalog: Catalog) -> None:
    """After the block the reference is what it was, functions and methods alike."""
    chosen = tuple(one for one in catalog["causal_attention"].mistakes if one.name in ("no_scaling", "biases_ignored"))
    with patchable.replaced(()) as namespace:
        before = (namespace["scale"], namespace["CausalAttention"].project)
    with patchable.replaced(chosen) as namespace:
        within = (namespace["scale"], namespace["CausalAttention"].project)
    with patchable.replaced(()) as namespace:
        after = (namespace["scale"], namespace["CausalAttention"].project)

    assert within == tuple(one.step for one in chosen)
    assert after == before


def test_the_steps_of_a_constructor_are_found(patchable: PatchableReference, catalog: Catalog) -> None:
    """Whoever reuses an instance has to know which steps have left their mark in it."""

    def build(namespace: Mapping[str, Any]) -> None:
        namespace["CausalAttention"](3, 4, 5, 0.0)

    def call(namespace: Mapping[str, Any]) -> None:
        namespace["scale"](3.0, 4)

    mistakes = catalog["causal_attention"].mistakes

    assert patchable.steps_run(mistakes, build) == frozenset()
    assert patchable.steps_run(mistakes, call) == {"scale"}
