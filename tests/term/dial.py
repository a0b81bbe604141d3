"""Exercises in which an answer says itself how many points it gets, for terms whose scores are known beforehand.

A case is a step of 5 points, and an answer is right up to the step that it names: `V1 = 7` earns 35. What passes earns
half until the numbers of two cases are right, so the first step is two cases of 2.5 points: whoever is right in one of
them is right in both. The width of the numbers tells the versions of the exercise apart, so that one answer serves two.

`python -m tests.term.dial FOLDER` writes them for `class replay --catalog FOLDER`.
"""

from __future__ import annotations

import sys
from pathlib import Path

NAMES = ("softmax", "sdpa", "causal", "heads", "rotary", "flash")
STEPS = 20
POINTS = 100 // STEPS
REFERENCE = "def dial(x, step):\n    return x.cumsum(-1) * step\n"
ANSWER = """V1, V2 = {0}, {1}


def dial(x, step):
    last = V1 if x.shape[-1] == 3 else V2
    return x.cumsum(-1) * step if step <= last else x - 1
"""
_WIDTHS = {"1": 3, "2": 4}
_HEAD = """format_version = 1
title = "{title}"
summary = "As many points as the answer says."
track = "Dials"
order = {order}
difficulty = "easy"
minutes = 1
sources = ["None: it is for tests."]
forbidden = []

[entry]
name = "dial"
kind = "function"
arguments = ["x", "step"]

[inputs.x]
axes = ["rows", "width"]

[returns.sums]
axes = ["rows", "width"]

[[checks]]
check = "values"
points = {first}
cases = ["step_1", "step_1_again"]

[[checks]]
check = "values"
points = {others}
cases = [{names}]
"""
_CASE = """
[[cases]]
name = "step_{name}"
title = "step {name}"
sizes = {{ rows = {rows}, width = {width} }}
arguments = {{ step = {step} }}
"""


def write(folder: Path, version: str = "1") -> Path:
    """Write the exercises in a version, `1` or `2`, as a catalogue; return its folder."""
    (folder / "reference").mkdir(parents=True, exist_ok=True)
    for order, name in enumerate(NAMES):
        mine = folder / "exercises" / name
        mine.mkdir(parents=True, exist_ok=True)
        (folder / "reference" / f"{name}.py").write_text(REFERENCE)
        (mine / "exercise.toml").write_text(_specification(name, order, _WIDTHS[version]))
        (mine / "starter.py").write_text("def dial(x, step):\n    raise NotImplementedError\n")
        (mine / "statement.md").write_text("Sum up.\n")
        (mine / "mistakes.py").write_text("")
    return folder


def answer(score: int, afterwards: int | None = None) -> str:
    """Return a source that earns `score` in version 1, and in version 2 the same, or `afterwards`."""
    return ANSWER.format(score // POINTS, (score if afterwards is None else afterwards) // POINTS)


def _specification(title: str, order: int, width: int) -> str:
    names = ", ".join(f'"step_{number}"' for number in range(2, STEPS + 1))
    head = _HEAD.format(title=title, order=order, first=POINTS, others=100 - POINTS, names=names)
    steps = [("1_again", 1), *((str(number), number) for number in range(1, STEPS + 1))]
    return head + "".join(_CASE.format(name=name, rows=2, width=width, step=step) for name, step in steps)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
