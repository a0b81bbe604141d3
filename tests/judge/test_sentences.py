"""What is said of where an answer goes wrong: three answers that it is true of, and three near ones that it is not."""

from __future__ import annotations

import re
from functools import partial

import pytest

from benchmarks.located import outcome_of
from grader.box.inline import InlineBox
from grader.box.run import Limits
from grader.exercise.catalog import Catalog
from grader.judge.locating import locate
from tests.checks.workshop import change

FUNCTION = """import torch

def scaled_dot_product_attention(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1)
    scaled = scores / key.shape[-1] ** 0.5
    if mask is not None:
        hidden = mask == 0
        scaled = scaled.masked_fill(hidden, float("-inf"))
    weights = torch.softmax(scaled, dim=-1)
    output = weights @ value
    return output, weights
"""
MODULE = """import torch
from torch import nn

class SelfAttention(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))

    def forward(self, x):
        queries = x @ self.W_query
        keys = x @ self.W_key
        values = x @ self.W_value
        scores = queries @ keys.T / keys.shape[-1] ** 0.5
        weights = torch.softmax(scores, dim=-1)
        return weights @ values
"""
SCALING = "scaled = scores / key.shape[-1] ** 0.5"
SOFTMAX = "weights = torch.softmax(scaled, dim=-1)"
MIXING = "    output = weights @ value\n"
Edit = tuple[str, str]

_FUNCTION: dict[str, tuple[tuple[Edit, ...], tuple[Edit, ...]]] = {
    r"Your results become wrong at line \d+$": (
        (("** 0.5", "** 0.25"), ("dim=-1", "dim=-2"), ("query @", "(2 * query) @")),
        ((SCALING, "scaled = scores"), ("hidden = mask == 0", "hidden = mask == 1"), (SCALING, SCALING + " + 0")),
    ),
    "wrong at .*, or already at": (
        (
            ("hidden = mask == 0", "hidden = mask == 1"),
            (SOFTMAX, "powers = scaled.exp() + 0.1\n    weights = powers / powers.sum(-1, keepdim=True)"),
            (MIXING, "    changed = weights * 0.9\n    output = changed @ value\n"),
        ),
        (
            ("scaled = scaled.masked_fill(hidden,", "scaled = scaled.masked_fill(mask == 1,"),
            (SOFTMAX, "weights = (scaled.exp() + 0.1) / (scaled.exp() + 0.1).sum(-1, keepdim=True)"),
            (MIXING, "    output = (weights * 0.9) @ value\n"),
        ),
    ),
    "wrong at .* or earlier": (
        (
            ("import torch\n", "import torch\nSCALE = torch.full((1,), 0.3, dtype=torch.float64)\n"),
            (SCALING, "scaled = torch.from_numpy(scores.detach().numpy() * 0.3)"),
            (SCALING, "scaled = scores * torch.tensor([0.3], dtype=scores.dtype)"),
        ),
        ((SCALING, "scaled = scores * 0.3"), ("query @", "(2 * query) @"), ("dim=-1", "dim=-2")),
    ),
    "A right result is changed, or not used": (
        (
            (SCALING, SCALING + "\n    scaled = scaled * 1.1"),
            (SCALING, "scores = scores.flip(-1)\n    " + SCALING),
            (SCALING, SCALING + "\n    scaled = scaled + 0.1 * torch.arange(scaled.shape[-1])"),
        ),
        (
            (SCALING, "scaled = scores * 1.1"),
            ("query @", "(2 * query) @"),
            (SCALING, SCALING + "\n    spare = scaled * 1.1"),
        ),
    ),
    "A step is missing after line": (
        (
            (SCALING, "scaled = scores"),
            (SOFTMAX, "weights = scaled"),
            ('        scaled = scaled.masked_fill(hidden, float("-inf"))\n', "        pass\n"),
        ),
        ((SCALING, "scaled = scores * 1.5"), ("dim=-1", "dim=-2"), ('float("-inf")', "-1.0")),
    ),
    "The gradient is cut at line": (
        (
            (MIXING, "    output = weights.detach() @ value\n"),
            (MIXING, "    with torch.no_grad():\n        frozen = weights * 1\n    output = frozen @ value\n"),
            ("query @", "query.data @"),
        ),
        (
            (SOFTMAX, "scaled = scaled - scaled.detach().amax(-1, keepdim=True)\n    " + SOFTMAX),
            (MIXING, "    if (weights.detach() > 2).any():\n        return value\n" + MIXING),
            (MIXING, MIXING + "    print(weights.detach().sum())\n"),
        ),
    ),
    "Your code fails at line": (
        (
            ("** 0.5", "** missing"),
            ("query @ key.transpose(-2, -1)", "query @ key"),
            ("weights @ value", "weights @ value.mT"),
        ),
        ((SCALING, "scaled = scores"), ("return output, weights", "return weights, output"), ("dim=-1", "dim=-2")),
    ),
    "does not match the exercise: see line": (
        (
            ("return output, weights", "return output, weights.sum(-1)"),
            ("return output, weights", "return weights, output"),
            ("return output, weights", "return output.unsqueeze(0), weights"),
        ),
        (
            ("dim=-1", "dim=-2"),
            (MIXING, "    output = weights @ value * 2\n"),
            ("weights @ value", "weights @ value.mT"),
        ),
    ),
}
_MODULE = {
    "The result of line .* is used where that of line .* belongs": (
        (
            ("weights @ values", 'torch.einsum("ij,jd->id", weights, keys)'),
            ("weights @ values", "weights @ queries"),
            ("weights @ values", "weights @ keys"),
        ),
        (
            ("queries @ keys.T", "keys @ queries.T"),
            ("queries @ keys.T", "queries @ queries.T"),
            ("weights @ values", "weights.T @ values"),
        ),
    ),
}
_CASES = [
    pytest.param(exercise, base, title, edit, is_true, id=f"{title} {number} {is_true}")
    for exercise, base, table in (
        ("scaled_dot_product_attention", FUNCTION, _FUNCTION),
        ("self_attention_parameters", MODULE, _MODULE),
    )
    for title, groups in table.items()
    for is_true, edits in zip((True, False), groups, strict=True)
    for number, edit in enumerate(edits)
]


@pytest.mark.parametrize(("name", "base", "title", "edit", "is_true"), _CASES)
def test_a_title_is_told_where_it_is_true_and_nowhere_near(
    catalog: Catalog, name: str, base: str, title: str, edit: Edit, is_true: bool
) -> None:
    """The lines of an answer and a small change of them."""
    text = change(base, edit)
    if "SCALE" in edit[1]:
        text = change(text, (SCALING, "scaled = scores * SCALE"))
    exercise = catalog[name]
    found = locate(exercise, outcome_of(exercise, text), text, partial(InlineBox().run, source=text, limits=Limits()))

    told = found.title if found is not None else ""
    assert bool(re.search(title, told)) is is_true, told
