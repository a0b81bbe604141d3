"""Two small exercises that use every check once, and a way to grade variations of their references."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from grader.box.inline import InlineBox
from grader.exercise.catalog import Exercise, read_exercise
from grader.judge.grade import grade
from grader.judge.report import CheckResult, Report

_HEAD = """
format_version = 1
title = "A small one"
summary = "For tests."
track = "Tests"
order = 1
difficulty = "easy"
minutes = 1
sources = ["None"]
"""

ATTEND_TOML = (
    _HEAD
    + """
[entry]
name = "attend"
kind = "function"
arguments = ["query", "key", "value", "mask"]
defaults = {}

[inputs.query]
axes = ["batch", "queries", "d_k"]
[inputs.key]
axes = ["batch", "keys", "d_k"]
[inputs.value]
axes = ["batch", "keys", "d_v"]
[inputs.mask]
axes = ["queries", "keys"]
kind = "causal"

[returns.output]
axes = ["batch", "queries", "d_v"]
[returns.weights]
axes = ["batch", "queries", "keys"]

[[cases]]
name = "small"
title = "small"
sizes = { batch = 2, queries = 4, keys = 5, d_k = 3, d_v = 6 }
[[cases]]
name = "single"
title = "single"
sizes = { batch = 2, queries = 4, keys = 5, d_k = 3, d_v = 6 }
dtype = "float32"
[[cases]]
name = "loud"
title = "loud"
sizes = { batch = 2, queries = 4, keys = 5, d_k = 3, d_v = 6 }
make = "outscored"

[[checks]]
check = "shape"
points = 10
cases = ["small", "single"]
[[checks]]
check = "values"
points = 20
cases = ["small", "single"]
[[checks]]
check = "steady"
points = 10
cases = ["small"]
[[checks]]
check = "finite"
points = 10
cases = ["small"]
[[checks]]
check = "support"
points = 10
cases = ["small"]
output = "weights"
[[checks]]
check = "outscored"
points = 2
cases = ["loud"]
[[checks]]
check = "influence"
points = 18
cases = ["small"]
of = ["key", "value"]
axis = "keys"
output = "output"
rows = "queries"
[[checks]]
check = "gradient_flow"
points = 10
cases = ["small"]
[[checks]]
check = "gradient_values"
points = 10
cases = ["small"]
"""
)

ATTEND = """
import math
import torch

def attend(query, key, value, mask):
    scores = query @ key.transpose(-2, -1) / math.sqrt(key.shape[-1])
    scores = scores.masked_fill(~mask, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    output = weights @ value
    return output, weights
"""

BLOCK_TOML = (
    _HEAD
    + """
[entry]
name = "Block"
kind = "module"
arguments = ["x"]
constructor = ["d_in", "d_out", "num_heads", "dropout"]

[inputs.x]
axes = ["time", "d_in"]
[returns.y]
axes = ["time", "d_out"]
[weights.W_query]
inputs = "d_in"
outputs = "d_out"
bias = true

[[cases]]
name = "small"
title = "small"
sizes = { time = 7, d_in = 4, d_out = 6, num_heads = 3 }
construct = { dropout = 0.5 }
[[cases]]
name = "odd"
title = "odd"
sizes = { time = 7, d_in = 4, d_out = 6, num_heads = 5 }
construct = { dropout = 0.0 }
[[cases]]
name = "training"
title = "training"
sizes = { time = 41, d_in = 4, d_out = 30, num_heads = 3 }
construct = { dropout = 0.3 }

[[checks]]
check = "shape"
points = 20
cases = ["small"]
[[checks]]
check = "values"
points = 20
cases = ["small"]
[[checks]]
check = "refusal"
points = 20
cases = ["odd"]
[[checks]]
check = "dropout"
points = 20
cases = ["training"]
[[checks]]
check = "no_parameters"
points = 20
cases = ["small"]
"""
)

BLOCK = """
import torch
from torch import nn

class Block(nn.Module):
    def __init__(self, d_in, d_out, num_heads, dropout):
        super().__init__()
        assert d_out % num_heads == 0
        self.W_query = nn.Linear(d_in, d_out)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        y = self.W_query(x)
        y = self.dropout(y)
        return y
"""

MISTAKES = """
from grader.exercise.mistakes import mistake
"""


_INPUTS = """
from grader.exercise.families import cases

outscored = cases.outscored
"""


def build(folder: Path, toml: str, reference: str, mistakes: str = MISTAKES) -> Exercise:
    """Write an exercise called `made_up` below `folder` and read it."""
    place = folder / "exercises" / "made_up"
    place.mkdir(parents=True)
    (folder / "reference").mkdir()
    (folder / "reference" / "made_up.py").write_text(reference, encoding="utf-8")
    (place / "exercise.toml").write_text(toml, encoding="utf-8")
    (place / "mistakes.py").write_text(mistakes, encoding="utf-8")
    (place / "inputs.py").write_text(_INPUTS, encoding="utf-8")
    return read_exercise(place, folder)


def change(source: str, *edits: tuple[str, str]) -> str:
    """Return `source` with each text replaced by another; a text that is not there is an error."""
    for before, after in edits:
        assert before in source, before
        source = source.replace(before, after)
    return source


@dataclass(frozen=True, slots=True)
class Trial:
    """A change of a right answer, and a pattern of what is said of it, or must not be said."""

    answer: str
    edit: tuple[str, str]
    pattern: str
    is_true: bool


def trials(table: str) -> Iterator[Trial]:
    """Yield the trials of a table, of which each row begins with what it is.

    A right answer (=), a text in it (@) and what takes its place (>), with two gaps. A pattern (?), and below it edits
    after which it is true (+), and near ones after which it must not be said (-). An edit fills the gaps, the last of
    its statements the second one; or else it is `a text => another`.
    """
    now = {"=": "", "@": "", ">": "", "?": ""}
    for kind, _, row in (line.partition(" ") for line in table.strip().splitlines()):
        if kind in now:
            now[kind] = row
            continue
        for edit in row.split(" || "):
            before, arrow, after = edit.partition(" =>")
            first, semicolon, last = edit.rpartition("; ")
            filled = now[">"].format(first + semicolon, last)
            yield Trial(now["="], (before, after[1:]) if arrow else (now["@"], filled), now["?"], kind == "+")


def grade_here(exercise: Exercise, source: str, seed: int = 3) -> Report:
    """Grade in this process."""
    return grade(exercise, source, seed=seed, box=InlineBox())


def line(report: Report, name: str) -> CheckResult:
    """Return the line called `case: check`."""
    return next(check for check in report.checks if check.name == name)
