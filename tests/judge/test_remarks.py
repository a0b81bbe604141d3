"""Remarks on right answers: what they say is true of the code, and what is no fault is not told."""

from __future__ import annotations

import pytest

from grader.box.inline import InlineBox
from grader.exercise.catalog import ROOT, read_exercise
from grader.judge.grade import grade
from grader.judge.report import Report

_SOFTMAX = "def softmax(x, dim=-1):\n    e = (x - x.amax(dim, True)).exp()\n    return e / e.sum(dim, keepdim=True)\n"
_LINEAR = """import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super().__init__()
        self.W_query, self.W_key, self.W_value = (LAYER for _ in range(3))
        self.last = None

    def forward(self, x):
        scores = self.W_query(x) @ self.W_key(x).T / self.W_query.out_features**0.5
        self.last = self.weights = scores.softmax(dim=-1)
        return self.weights @ self.W_value(x)
"""


def _graded(exercise: str, source: str) -> Report:
    return grade(read_exercise(ROOT / "exercises" / exercise, ROOT), source, seed=0, box=InlineBox())


@pytest.mark.filterwarnings("ignore:Lazy modules are a new feature")
def test_weights_that_a_lazy_module_keeps_for_a_picture_are_no_state() -> None:
    """Its shapes are learnt from a call, which leaves nothing else; the weights of that call were taken for state."""
    report = _graded("self_attention_linear", _LINEAR.replace("LAYER", "nn.LazyLinear(d_out, bias=qkv_bias)"))

    assert report.score == 100
    assert not any("plain tensor" in remark for remark in report.advice)


def test_an_initialiser_that_pytorch_lacks_in_half_precision_is_not_told() -> None:
    """It says nothing about the code: nobody draws initial values in float16 on a CPU."""
    drawn = "_drawn(nn.Linear(d_in, d_out, bias=qkv_bias))"
    function = "\ndef _drawn(layer):\n    nn.init.orthogonal_(layer.weight)\n    return layer\n"
    report = _graded("self_attention_linear", _LINEAR.replace("LAYER", drawn) + function)

    assert report.score == 100
    assert not any("half precision" in remark for remark in report.advice)


@pytest.mark.parametrize(("end", "told"), [("sys.exit(0)", 0), ("sys.exit()", 0), ("sys.exit(1)", 1)])
def test_a_script_that_ends_itself_has_raised_no_error(end: str, told: int) -> None:
    """`sys.exit(main())` is how a script ends that all went well in; another code is told."""
    report = _graded("softmax", f"import sys\n{_SOFTMAX}\n{end}\n")

    assert (report.score, len(report.advice)) == (100, told)


def test_several_packages_are_replaced_by_several_placeholders() -> None:
    """The verb agrees with what it is said of."""
    one, two = (_graded("softmax", f"import {names}\n{_SOFTMAX}").advice for names in ("wandb", "wandb, timm"))

    assert "`wandb`: not available, so it was replaced by a placeholder" in one[0]
    assert "`timm`, `wandb`: not available, so they were replaced by placeholders" in two[0]
