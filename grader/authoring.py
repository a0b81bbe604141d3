"""Begins a new exercise: files that load and run, and that the gate refuses until an author has made them right."""

from __future__ import annotations

import re
from pathlib import Path

from grader.exercise.catalog import ROOT
from grader.local import WrongUse

NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")

SPEC = """\
format_version = 1
title = "{title}"
summary = "One sentence for the catalogue."
track = "New"
order = 1000
difficulty = "easy"
minutes = 15
needs = []
sources = ["Where the formula comes from: paper, section, arXiv number"]
hints = []

[entry]
name = "{id}"
kind = "function"
arguments = ["query", "key"]

[inputs.query]
axes = ["batch", "query", "dim"]

[inputs.key]
axes = ["batch", "key", "dim"]

[returns.weights]
axes = ["batch", "query", "key"]

# Axes of pairwise different sizes, and none of size 1 unless the case is about that: a swapped axis must not fit.
[[cases]]
name = "small"
title = "three queries, four keys"
sizes = { batch = 2, query = 3, key = 4, dim = 5 }

# The points of all checks add up to 100.
[[checks]]
check = "shape"
points = 20
cases = ["small"]

[[checks]]
check = "values"
points = 40
cases = ["small"]

[[checks]]
check = "gradient_flow"
points = 20
cases = ["small"]

[[checks]]
check = "gradient_values"
points = 20
cases = ["small"]
"""

STATEMENT = """\
## What to build

What it is for, in two sentences. Then the formula:

$$W = \\mathrm{softmax}(Q K^\\top)$$

The softmax runs over the keys.

## What you write

| name | what it is | shape |
|---|---|---|
| `{id}(query, key)` | a function | |
| `query` | floating point | (B, T_q, d) |
| `key` | same dtype | (B, T_k, d) |
| returns | same dtype | (B, T_q, T_k) |

## A small example

Numbers that can be checked by hand.

## What is checked

1. **Shapes**: the shape and dtype of the output.
2. **Numerics**: your output is compared with the reference in float64.
3. **Gradient flow**: the gradients of both inputs.
"""

STARTER = '''\
"""{title}: say in one line what to build."""

import torch


def {id}(query, key):
    # query: (batch, query, dim), key: (batch, key, dim)
    raise NotImplementedError("write your code here")
    # return (batch, query, key)
'''

MISTAKES = '''\
"""What students get wrong in {words}. The first line of each docstring is its title, the rest tells the student why."""

from __future__ import annotations

import torch
from torch import Tensor

from grader.exercise.mistakes import mistake


@mistake(replaces="normalise", dimension="numerics")
def softmax_over_queries(scores: Tensor) -> Tensor:
    """Your softmax runs over the queries.

    The columns of your weights add up to one, and the rows do not. Which axis of the scores is the key axis?
    """
    return torch.softmax(scores, dim=-2)
'''

REFERENCE = '''\
"""{title}, in small named steps: each mistake replaces one of them.

Notation: B batch, T_q queries, T_k keys, d width.
Source: where the formula comes from.
"""

from __future__ import annotations

import torch
from torch import Tensor


def scores_of(query: Tensor, key: Tensor) -> Tensor:
    """Return every query's dot product with every key, (B, T_q, T_k)."""
    return query @ key.transpose(-2, -1)


def normalise(scores: Tensor) -> Tensor:
    """Turn each query's scores into weights that add up to one."""
    return torch.softmax(scores, dim=-1)


def {id}(query: Tensor, key: Tensor) -> Tensor:
    """Return the weights of each query (B, T_q, d) over the keys (B, T_k, d), (B, T_q, T_k)."""
    return normalise(scores_of(query, key))
'''


def begin(name: str, root: Path = ROOT) -> tuple[Path, ...]:
    """Write the files of a new exercise and return their paths.

    Raises:
        WrongUse: the name is no snake_case, or an exercise or a reference of that name is there.
    """
    if not NAME.fullmatch(name):
        raise WrongUse(f"{name!r} is no id for an exercise; write it in snake_case, such as causal_attention")
    folder, reference = root / "exercises" / name, root / "reference" / f"{name}.py"
    for path in (folder, reference):
        if path.exists():
            raise WrongUse(f"`{path}` is there already and stays as it is")
    texts = {
        folder / "exercise.toml": SPEC,
        folder / "statement.md": STATEMENT,
        folder / "starter.py": STARTER,
        folder / "mistakes.py": MISTAKES,
        reference: REFERENCE,
    }
    folder.mkdir(parents=True)
    for path, text in texts.items():
        with path.open("x", encoding="utf-8") as file:
            file.write(_fill(text, name))
    return tuple(texts)


def _fill(text: str, name: str) -> str:
    words = name.replace("_", " ")
    # Not str.format: formulas and tables have braces of their own.
    for blank, value in {"{id}": name, "{title}": words.capitalize(), "{words}": words}.items():
        text = text.replace(blank, value)
    return text
