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
arguments = ["x"]

[inputs.x]
axes = ["batch", "time", "width"]

[returns.output]
axes = ["batch", "width"]

# Axes of pairwise different sizes, and none of size 1 unless the case is about that: a swapped axis must not fit.
[[cases]]
name = "small"
title = "two sequences of four tokens"
sizes = { batch = 2, time = 4, width = 3 }

# What the seed of a submission decides, so that no answer can be made for the sizes above alone.
[[cases]]
name = "drawn"
title = "sizes drawn for your submission"
draw = { batch = "3..6", time = "17..40", width = "1..6" }

# The points of all checks add up to 100.
[[checks]]
check = "shape"
points = 15
cases = ["small"]

[[checks]]
check = "values"
points = 55
cases = ["small", "drawn"]

[[checks]]
check = "gradient_flow"
points = 10
cases = ["small"]

[[checks]]
check = "gradient_values"
points = 20
cases = ["small"]
"""

STATEMENT = """\
## Why

What it is good for, in two sentences.

## What to build

What it does, in one sentence. Then the formula; a sum of squares stands here until yours does:

$$y_{bi} = \\sum_t x_{bti}^2$$

## What you write

| name | what it is | shape |
|---|---|---|
| `{id}(x)` | a function | |
| `x` | floating point | (B, T, d) |
| and returns | same dtype as `x` | (B, d) |

## A small example

Numbers that can be checked by hand, as a picture: `docs/authors.md` says how.

## What is checked

1. **Shapes**: the shape and dtype of the output.
2. **Numerics**: your output is compared with the reference in float64.
3. **Gradient flow**: the gradient of `x`.

## Rules

Do not change the input tensors in place: that costs points.

You may use any PyTorch function except ready-made attention.

## To think about

A question that leads further?

<details><summary>Answer</summary>

Its answer.

</details>
"""

STARTER = '''\
"""{title}: say in one line what to build."""

import torch


def {id}(x):
    # x: (batch, time, width)
    raise NotImplementedError("write your code here")
    # return (batch, width)
'''

MISTAKES = '''\
"""What students get wrong in {words}. The first line of each docstring is its title, the rest tells the student why."""

from __future__ import annotations

from torch import Tensor

from grader.exercise.mistakes import mistake


@mistake(replaces="square", dimension="numerics")
def absolute_values(x: Tensor) -> Tensor:
    """You add up absolute values, not squares.

    Large numbers count for too little. Compute one element of the output by hand: which power of `x` does it have?
    """
    return x.abs()
'''

REFERENCE = '''\
"""{title}, in small named steps: each mistake replaces one of them.

Notation: B batch, T time, d width.
Source: where the formula comes from.
"""

from __future__ import annotations

from torch import Tensor


def square(x: Tensor) -> Tensor:
    """Return the square of each element, (B, T, d)."""
    return x * x


def add_up(squares: Tensor) -> Tensor:
    """Return the sums over time, (B, d)."""
    return squares.sum(dim=1)


def {id}(x: Tensor) -> Tensor:
    """Return the sums of squares of x (B, T, d) over time, (B, d)."""
    return add_up(square(x))
'''

RIGHT = """\
# verdict: full marks
import torch


def {id}(x):
    return torch.einsum("btd,btd->bd", x, x)
"""

WRONG = """\
# verdict: loses numerics
# diagnosis: absolute_values
def {id}(x):
    total = 0
    for t in range(x.shape[1]):
        total = total + x[:, t].abs()
    return total
"""


def begin(name: str, root: Path = ROOT) -> tuple[Path, ...]:
    """Write the files of a new exercise and return their paths.

    Raises:
        WrongUse: the name is no snake_case, or an exercise or a reference of that name is there.
    """
    from grader.examples import FOLDER  # here: it brings torch, which the other commands do not wait for

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
        folder / FOLDER / "right_einsum.py": RIGHT,
        folder / FOLDER / "wrong_powers.py": WRONG,
        reference: REFERENCE,
    }
    (folder / FOLDER).mkdir(parents=True)
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
