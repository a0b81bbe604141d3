"""Tokens, and weights of other kinds than projections: drawn, given to the module, and changed one at a time."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from grader.exercise.catalog import Exercise
from grader.judge.report import Verdict
from tests.checks.workshop import build, change, grade_here, line

_TOML = """
format_version = 1
title = "A reader"
summary = "For tests."
track = "Tests"
order = 1
difficulty = "easy"
minutes = 1
sources = ["None"]

[entry]
name = "Reader"
kind = "module"
arguments = ["tokens"]
constructor = ["vocab_size", "d_model", "num_layers", "normed"]
defaults = { normed = true }

[inputs.tokens]
axes = ["batch", "time"]
kind = "tokens"
high = "vocab_size"
[returns.states]
axes = ["batch", "time", "d_model"]

[weights]
embedding = { kind = "table", inputs = "vocab_size", outputs = "width" }
lstm = { kind = "lstm", inputs = "width", outputs = "d_model", layers = "num_layers" }
norm = { kind = "norm", inputs = "d_model", when = { normed = true } }
plain = { name = "gain", inputs = "d_model", outputs = "1", when = { normed = false } }

[[cases]]
name = "small"
title = "small"
sizes = { batch = 3, time = 5, vocab_size = 2, width = 4, d_model = 6 }
construct = { num_layers = 2 }
allow_equal_sizes = true
[[cases]]
name = "plain"
title = "plain"
sizes = { batch = 2, time = 5, vocab_size = 7, width = 4, d_model = 6 }
construct = { num_layers = 1, normed = false }

[[checks]]
check = "shape"
points = 20
cases = ["small", "plain"]
[[checks]]
check = "values"
points = 40
cases = ["small", "plain"]
[[checks]]
check = "influence"
points = 20
cases = ["small", "plain"]
of = ["tokens"]
axis = "time"
output = "states"
rows = "time"
[[checks]]
check = "gradient_values"
points = 20
cases = ["small", "plain"]
"""
_READER = """
import torch
from torch import nn

class Reader(nn.Module):
    def __init__(self, vocab_size, d_model, num_layers, normed=True):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, 4)
        self.lstm = nn.LSTM(4, d_model, num_layers, batch_first=True)
        if normed:
            self.norm = nn.LayerNorm(d_model)
        else:
            self.gain = nn.Parameter(torch.ones(d_model))

    def forward(self, tokens):
        states = self.lstm(self.embedding(tokens))[0]
        return self.norm(states) if hasattr(self, "norm") else states * self.gain
"""


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Exercise:
    """A module with an embedding, an LSTM, and a norm in some constructions only."""
    return build(tmp_path_factory.mktemp("reader"), _TOML, _READER)


@pytest.mark.parametrize("seed", range(5))
def test_every_changed_token_is_one_of_the_vocabulary(seed: int, reader: Exercise) -> None:
    """The largest token is changed to the smallest, not to one that no embedding has."""
    assert grade_here(reader, _READER, seed).score == 100


_WRONG = {
    "a later token seen": (
        "ing(tokens)",
        "ing(tokens.flip(1))",
        "attention pattern",
        "changing `tokens` at time 4 must not change",
    ),
    "another start": (
        "normed:",
        "normed and False:",
        "shape and dtype",
        "your module must have `norm` among its submodules",
    ),
    "one layer for two": ("num_layers, batch", "1, batch", "shape and dtype", "`lstm.weight_ih_l1`, of shape (24, 6)"),
    "a frozen embedding": ("ing(tokens)", "ing(tokens).detach()", "gradient values", "no gradient reaches `embedding`"),
}


@pytest.mark.parametrize("name", _WRONG)
def test_a_wrong_reader_is_told_what_is_wrong(name: str, reader: Exercise) -> None:
    """Each kind of weight is asked for, and what it gives is looked at."""
    before, after, check, words = _WRONG[name]

    found = line(grade_here(reader, change(_READER, (before, after))), f"small: {check}")

    assert (found.status, found.earned) == (Verdict.FAILED, 0)
    assert words in found.message


def test_each_kind_of_weight_is_drawn_in_its_own_shapes(reader: Exercise) -> None:
    """An embedding has rows, an LSTM four gates a layer, a norm a gain round 1 and a bias."""
    weights = {weight.name: weight.matrix for weight in reader.cases(0)["small"].weights}

    assert {name: tuple(value.shape) for name, value in weights.items() if not name.startswith("lstm.")} == {
        "embedding": (2, 4),
        "norm.weight": (6,),
        "norm.bias": (6,),
    }
    layers = torch.nn.LSTM(4, 6, 2).state_dict()
    assert {name: tuple(value.shape) for name, value in weights.items() if name.startswith("lstm.")} == {
        f"lstm.{name}": tuple(value.shape) for name, value in layers.items()
    }
    assert [weight.name for weight in reader.cases(0)["plain"].weights][-1] == "gain"


def test_a_bidirectional_lstm_has_weights_for_both_directions(tmp_path: Path) -> None:
    """The second layer reads what both directions of the first one wrote."""
    toml = change(_TOML, ('layers = "num_layers" }', 'layers = "num_layers", bidirectional = true }'))
    weights = build(tmp_path, toml, _READER).cases(0)["small"].weights
    layers = torch.nn.LSTM(4, 6, 2, bidirectional=True).state_dict()

    assert {weight.name: tuple(weight.matrix.shape) for weight in weights if weight.name.startswith("lstm.")} == {
        f"lstm.{name}": tuple(value.shape) for name, value in layers.items()
    }
