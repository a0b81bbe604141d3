"""Dropout that is not drawn for each element, or not passed back; and a constructor that refuses everything."""

from __future__ import annotations

import pytest
import torch

from grader.box.inline import InlineBox
from grader.checks.dropout import paired_elements
from grader.checks.finding import Verdict
from grader.exercise.catalog import ROOT, read_exercise
from grader.judge.grade import grade
from grader.judge.report import CheckResult, Report

SHARED = """
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
        scores = q @ k.mT / k.shape[-1] ** 0.5
        future = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
        weights = scores.masked_fill(future, -torch.inf).softmax(-1)
        return (weights * self.dropout(torch.ones_like(weights[:1]))) @ v
"""
SAME_NUMBER = """
import torch

def attention_dropout(weights, p, training=True):
    if not training or p == 0:
        return weights
    if p == 1:
        return weights * 0
    kept = torch.rand_like(weights).argsort(-1) >= round(p * weights.shape[-1])
    return weights * kept / (1 - p)
"""
REFUSING = """
from torch import nn

class MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Liner(d_in, d_out)
"""


def _graded(exercise: str, source: str) -> Report:
    return grade(read_exercise(ROOT / "exercises" / exercise), source, seed=3, box=InlineBox())


def _line(report: Report, ending: str) -> CheckResult:
    return next(check for check in report.checks if check.name.endswith(ending))


def test_one_mask_for_the_whole_batch_fails_dropout_and_nothing_else() -> None:
    """Each sequence must draw its own mask."""
    report = _graded("causal_attention", SHARED)

    failed = [check.name for check in report.checks if check.status is Verdict.FAILED]
    assert [_line(report, "dropout in training").name] == failed
    assert "differ only along batch" in _line(report, "dropout in training").message


def test_one_mask_for_all_heads_fails_dropout_and_nothing_else() -> None:
    """Each head must draw its own mask."""
    plain = (ROOT / "exercises" / "multi_head_attention_causal" / "examples" / "right_plain.py").read_text("utf-8")
    shared = plain.replace(
        "self.dropout(attn_weights)", "attn_weights * self.dropout(torch.ones_like(attn_weights[:, :1]))"
    )
    assert shared != plain

    report = _graded("multi_head_attention_causal", shared)

    failed = [check.name for check in report.checks if check.status is Verdict.FAILED]
    assert [_line(report, "dropout in training").name] == failed
    assert "differ only along head" in _line(report, "dropout in training").message


def test_the_same_number_in_each_row_fails_dropout_and_nothing_else() -> None:
    """At p = 0.5 a row loses half of its weights on average, and not each time."""
    report = _graded("attention_dropout", SAME_NUMBER)

    line = _line(report, "p = 0.5: dropout in training")
    assert line.status is Verdict.FAILED
    assert line.message.startswith("along key the same number of elements is always dropped")


def test_draws_that_elements_share_are_found_wherever_they_lie() -> None:
    """Neighbours share a draw, or the second half of a row has the opposite ones of the first."""
    generator = torch.Generator().manual_seed(5)
    half = torch.rand(2, 3, 12, 13, generator=generator)
    everywhere = torch.ones(2, 3, 12, 26, dtype=torch.bool)

    assert paired_elements(half.repeat_interleave(2, dim=-1) < 0.5, everywhere, 0.5) == (0, 0, 0, 1)
    assert paired_elements(torch.cat([half, 1 - half], dim=-1) < 0.5, everywhere, 0.5) == (0, 0, 0, 13)


@pytest.mark.parametrize("p", [0.05, 0.3, 0.5, 0.8])
def test_independent_draws_pass(p: float) -> None:
    """Whatever the probability; only the elements of a triangle are looked at."""
    generator = torch.Generator().manual_seed(6)
    seen = torch.ones(3, 17, 17, dtype=torch.bool).tril()

    for _ in range(50):
        assert paired_elements(torch.rand(3, 17, 17, generator=generator) < p, seen, p) is None


@pytest.mark.parametrize("backward", ["weights + (dropped - weights).detach()", "kept + (dropped - kept).detach()"])
def test_a_backward_pass_that_ignores_what_was_dropped_fails_that_check_and_nothing_else(backward: str) -> None:
    """The one passes on everything; the other nothing where an element was dropped, but does not scale up the rest."""
    line = "return (weights * self.dropout(torch.ones_like(weights[:1]))) @ v"
    code = f"""dropped = self.dropout(weights)
        kept = weights * (dropped != 0)
        return ({backward}) @ v"""
    assert line in SHARED

    report = _graded("causal_attention", SHARED.replace(line, code))

    failed = [check.name for check in report.checks if check.status is not Verdict.PASSED]
    assert failed == [_line(report, "gradients through dropout").name]


def test_a_constructor_that_always_raises_earns_nothing_for_refusing() -> None:
    """Refusing what cannot work counts only where something can be constructed."""
    report = _graded("multi_head_attention_causal", REFUSING)

    assert report.score == 0
    assert _line(report, "rejects invalid arguments").status is Verdict.SKIPPED


@pytest.mark.parametrize(
    ("spared", "told"),
    [
        (
            "weights[..., 2] / (1 - p) if p < 1 else columns[2]",
            "nothing is ever dropped at index 2 along key; draw for it as well",
        ),
        ("dropped[..., 2]", ""),
        ("dropped[..., 2] * 1.0", ""),
    ],
)
def test_a_column_that_is_never_dropped_is_told_as_that(spared: str, told: str) -> None:
    """And not as elements that are not drawn independently: each of the others is."""
    source = f"""
import torch

def attention_dropout(weights, p, training=True):
    if not training:
        return weights
    dropped = torch.nn.functional.dropout(weights, p)
    columns = list(dropped.unbind(-1))
    columns[2] = {spared}
    return torch.stack(columns, -1)
"""
    messages = [check.message for check in _graded("attention_dropout", source).checks if check.message]

    assert bool(messages) == bool(told)
    assert told in "".join(messages)
