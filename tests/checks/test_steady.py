"""A module gives what its input says: whatever came before, and in training mode too where nothing is dropped."""

from __future__ import annotations

import pytest

from grader.box.inline import InlineBox
from grader.checks.finding import Verdict
from grader.exercise.catalog import ROOT, read_exercise
from grader.judge.grade import grade

ATTENTION = """
import torch
from torch import nn

class SelfAttention(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))
        self.kept = {}

    def forward(self, x):
        scores = (x @ self.W_query) @ (x @ self.W_key).T
        # here
        return torch.softmax(scores / self.W_key.shape[1] ** 0.5, dim=-1) @ (x @ self.W_value)
"""
WRONG = {
    "keeps its scores": (
        "scores = self.kept.setdefault(x.shape, scores)",
        "called a second time, with different inputs, your output is wrong: `context`",
    ),
    "drops unasked": (
        "scores = nn.functional.dropout(scores, 0.2, self.training)",
        "in training mode, which must not change the output, your output is wrong: `context`",
    ),
}


@pytest.mark.parametrize(("line", "message"), WRONG.values(), ids=WRONG.keys())
def test_what_shows_in_a_later_call_alone_fails_that_check_alone(line: str, message: str) -> None:
    """The message says which call it was."""
    exercise = read_exercise(ROOT / "exercises" / "self_attention_parameters")

    report = grade(exercise, ATTENTION.replace("# here", line), seed=5, box=InlineBox())

    failed = [check for check in report.checks if check.status is not Verdict.PASSED]
    assert [check.name for check in failed] == ["five tokens: repeated calls"]
    assert message in failed[0].message


@pytest.mark.parametrize("line", ["scores = scores.detach() if self.training else scores", "scores.data *= 1"])
def test_a_gradient_that_is_lost_in_training_mode_alone_is_missed(line: str) -> None:
    """Outputs and gradients in evaluation mode are right, and yet nothing could be trained."""
    exercise = read_exercise(ROOT / "exercises" / "self_attention_parameters")

    report = grade(exercise, ATTENTION.replace("# here", line), seed=5, box=InlineBox())

    failed = [check.message for check in report.checks if check.status is Verdict.FAILED]
    lost = ["in evaluation mode all gradients are there, but in a later call, in training mode, no gradient reaches"]
    assert [message[: len(lost[0])] for message in failed] == (lost if "detach" in line else [])


SOFTMAX = """
import torch

def softmax(x, dim=-1):
    powers = torch.exp(x - x.amax(dim=dim, keepdim=True))
    return powers / powers.sum(dim=dim, keepdim=True) + (1e-3 if x.dim() == 4 and x.abs().max() < 2.4 else 0)
"""
MASK = """
import torch

def create_padding_mask(seq, pad_idx=0):
    lengths = (seq != pad_idx).sum(dim=1)
    return (torch.arange(seq.shape[1]) < lengths[:, None])[:, None, None]
"""
KEEPS = """
import torch

kept = {}

def softmax(x, dim=-1):
    if x.shape not in kept:
        kept[x.shape] = torch.exp(x - x.amax(dim=dim, keepdim=True))
    return kept[x.shape] / kept[x.shape].sum(dim=dim, keepdim=True)
"""


@pytest.mark.parametrize(
    ("name", "source", "is_kept"),
    [("padding_mask", MASK, False), ("softmax", SOFTMAX, False), ("softmax", KEEPS, True)],
)
def test_state_is_named_only_where_it_shows(name: str, source: str, is_kept: bool) -> None:
    """Code that merely computes other inputs wrongly keeps nothing, so nobody is sent to look for state there."""
    report = grade(read_exercise(ROOT / "exercises" / name), source, seed=0, box=InlineBox())

    told = [check.message for check in report.checks if check.name.endswith(": repeated calls")]
    assert len(told) == 1
    assert ("state that your code keeps" in told[0]) is is_kept
    assert told[0].startswith("for other inputs of the same shape, your output is wrong") is not is_kept
