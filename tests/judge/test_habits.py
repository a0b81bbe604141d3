"""What students really hand in: each gets one sentence that says what to do, with the line, in the real sandbox."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from grader.box.observations import Blame, Raised, Stage
from grader.box.run import Box
from grader.exercise.catalog import Catalog
from grader.installation import choose, close
from grader.judge.grade import grade
from grader.judge.report import Status
from grader.judge.source import what_it_is
from grader.pages.render import report_view
from grader.settings import Settings
from tests.limited import with_limits

EXERCISE = Catalog.load()["causal_attention"]
BRIEF = with_limits(EXERCISE, cpu_seconds=1.0)  # the second run, which finds the line, ends after one second
RIGHT = """import torch
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
        scores = q @ k.transpose(-2, -1) / k.shape[-1] ** 0.5
        future = torch.triu(torch.ones(x.shape[1], x.shape[1], dtype=torch.bool), diagonal=1)
        weights = scores.masked_fill(future, float("-inf")).softmax(dim=-1)
        return self.dropout(weights) @ v
"""
LAST = "        return self.dropout(weights) @ v\n"


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Box]:
    """Give the machine's sandbox."""
    box = choose(Settings(data=tmp_path_factory.mktemp("data"), allow_one_wall=True))
    yield box
    close(box)


@dataclass(frozen=True)
class Habit:
    """What somebody hands in, the sentence that they read first, and the line that is marked."""

    source: str
    told: str
    line: int | None = None
    status: Status = Status.REJECTED


def reading(name: str) -> str:
    """Return an end of a file in which the answer reads a name, so that what gives it a value is no demonstration."""
    return f"\n\nclass CausalAttention(CausalAttention):\n    kept = {name}\n"


def notebook(*cells: str) -> str:
    """Return a notebook of code cells as Jupyter saves it."""
    return json.dumps({"cells": [{"cell_type": "code", "source": cell} for cell in cells], "nbformat": 4})


def ending(line: str) -> str:
    """Return the right answer with `line` in the place of its last one."""
    return RIGHT.replace(LAST, f"        {line}\n")


def before(line: str) -> str:
    """Return the right answer with lines before its last one."""
    return RIGHT.replace(LAST, f"        {line}\n{LAST}")


GRADED = Status.GRADED
HABITS = {
    "a notebook": Habit(notebook("%matplotlib inline", RIGHT), "", status=GRADED),
    "an error in a notebook": Habit(
        notebook("import torch", "n = 1 / 0\n" + RIGHT + reading("n")),
        "ZeroDivisionError: division by zero (while your file was being loaded, line 1 of cell 2)",
    ),
    "a notebook's prompts": Habit("In [1]: import torch\n", "Line 1 begins with the prompt of a notebook", 1),
    "Python's prompts": Habit(">>> import torch\n>>> x = 1\n", "Line 1 begins with `>>>`, the prompt of Python", 1),
    "magics": Habit("%matplotlib inline\n!pip install torch\n" + RIGHT, "", status=GRADED),
    "a block of Markdown": Habit(f"```python\n{RIGHT}```\n", "Line 1 is Markdown (three backquotes), not Python", 1),
    "a chat": Habit(
        f"Here is the code:\n\n```python\n{RIGHT}```\n", "Line 3 is Markdown (three backquotes), not Python", 3
    ),
    "a forgotten return": Habit(ending("self.dropout(weights) @ v"), "None is returned: see line 13", 13, GRADED),
    "an endless loop": Habit(before("while True: pass"), "The time was over in line 18", 18, Status.TIMEOUT),
    "an endless loop below": Habit(RIGHT + "while True: pass\n", "", status=GRADED),
    "an endless loop that is needed": Habit(
        RIGHT + "n = sum(1 for _ in iter(int, 1))\n" + reading("n"), "The time was over in line 19", 19, Status.TIMEOUT
    ),
    "much printed": Habit(before("print('x' * 1_000_000)"), "", status=GRADED),
    "NumPy": Habit(
        ending("return (self.dropout(weights) @ v).detach().numpy()"),
        "A NumPy array is returned, not a tensor: see line 18",
        18,
        GRADED,
    ),
    "two results": Habit(
        ending("return self.dropout(weights) @ v, weights"),
        "Your `context` does not match the exercise: see line 18",
        18,
        GRADED,
    ),
    "input()": Habit(
        "n = int(input())\n" + RIGHT + reading("n"), "nobody can type anything while your code is graded", 1
    ),
    "a demonstration with input()": Habit("n = int(input())\n" + RIGHT, "", status=GRADED),
    "another exercise": Habit(
        "def softmax(x, dim=-1):\n    return x\n",
        "Your file must define a class called `CausalAttention`; it defines `softmax`",
    ),
    "another name": Habit(
        RIGHT.replace("CausalAttention", "Attention"), "it defines `Attention`; if that is it, rename it"
    ),
    "a PDF": Habit("%PDF-1.4\n%abc\n1 0 obj\n", "Your file is a PDF; send the .py file itself"),
    "a web page": Habit(
        "<!DOCTYPE html>\n<html></html>\n", "Your file is a web page or another document in HTML or XML"
    ),
    "an archive": Habit("PK\x03\x04\x14abc", "Your file is a ZIP archive or an office document"),
    "a letter": Habit("Dear teacher, I could not do it.\n", "Line 1 is text and not Python", 1),
    "a forgotten colon": Habit(
        RIGHT.replace("(self, x):", "(self, x)"),
        "SyntaxError: expected ':' (while your file was being loaded, line 13)",
        13,
    ),
    "tabs": Habit(RIGHT.replace("        scores", "\tscores"), "indent with spaces only", 15),
    "quotation marks": Habit(
        RIGHT.replace('"-inf"', "\u201c-inf\u201d"), "Line 17 has typographic quotation marks", 17
    ),
    "a special space": Habit(
        RIGHT.replace("        scores", "\u00a0       scores"),
        "Line 15 has a special space (No-break space, U+00A0)",
        15,
    ),
    "an invisible character": Habit(
        RIGHT.replace("dim=-1", "dim=\u200b-1"), "Line 17 has an invisible character (Zero width space, U+200B)", 17
    ),
    "a phone's capital": Habit(
        RIGHT.replace("from torch import nn", "From torch import nn"),
        "Line 2 begins with `From`; Python's word is `from`, all in small letters",
        2,
    ),
    "a long minus": Habit(
        RIGHT.replace("dim=-1", "dim=\u22121"), "Line 17 has the character Minus sign, U+2212; type - in its place", 17
    ),
    "no import": Habit(
        RIGHT.replace("from torch import nn\n", ""),
        "NameError: name 'nn' is not defined (while your file was being loaded, line 4)",
        4,
    ),
    "no self": Habit(
        RIGHT.replace("forward(self, x)", "forward(x)"),
        "`forward` has no `self`: `self` must be the first parameter",
        13,
        GRADED,
    ),
    "no self in a constructor": Habit(
        RIGHT.replace("__init__(self, d_in", "__init__(d_in"), "`CausalAttention` has no `self`", 6, GRADED
    ),
    "a wrong name": Habit(RIGHT.replace("self.W_value(x)", "self.W_vale(x)"), "Your code fails at line 14", 14, GRADED),
    "a GPU": Habit(
        RIGHT.replace("dtype=torch.bool", "dtype=torch.bool, device='cuda'"),
        "create new tensors on the input's device",
        16,
        GRADED,
    ),
    "no super": Habit(
        RIGHT.replace("        super().__init__()\n", ""),
        "call `super().__init__()` first, before you assign",
        7,
        GRADED,
    ),
    "super without its call": Habit(
        RIGHT.replace("super().__init__()", "super().__init__"), "call `super().__init__()` first", 8, GRADED
    ),
    "a parameter before super": Habit(
        RIGHT.replace("        super", "        self.scale = nn.Parameter(torch.ones(1))\n        super"),
        "call `super().__init__()` first, before you assign",
        7,
        GRADED,
    ),
    "a file": Habit("text = open('a.txt').read()\n" + RIGHT + reading("text"), "there are no files", 1),
    "a file of torch": Habit(
        "import torch\nkept = torch.save({}, 'a.pt')\n" + RIGHT + reading("kept"), "there are no files", 2
    ),
    "another program": Habit(
        "import subprocess\nmade = subprocess.run(['ls'])\n" + RIGHT + reading("made"), "no other processes", 2
    ),
    "a thread": Habit(
        "import threading\nmade = threading.Thread(target=print).start()\n" + RIGHT + reading("made"),
        "there are no threads",
        2,
    ),
    "a random seed": Habit(
        "import torch\nseed = torch.Generator().seed()\n" + RIGHT + reading("seed"), "give a seed yourself", 2
    ),
    "a newer Python": Habit("from typing import override, nothing\n" + RIGHT, "cannot import name", 1),
    "a ready-made step": Habit(
        ending("return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)"),
        "Line 18 calls what you are to write yourself",
        18,
        GRADED,
    ),
    "no end of calls": Habit(before("(lambda f: f(f))(lambda f: f(f))"), "infinite recursion", 18, GRADED),
    "nothing at all": Habit("# TODO\n", "Your file must define a class called `CausalAttention`; it defines nothing"),
}


@pytest.mark.parametrize("habit", HABITS.values(), ids=HABITS)
def test_the_first_sentence_says_what_to_do(habit: Habit, box: Box) -> None:
    """One headline, and its line marked; never a reference to another line of the report, nor a name of ours."""
    exercise = BRIEF if habit.status is Status.TIMEOUT else EXERCISE
    report = grade(exercise, habit.source, seed=3, box=box)
    view = report_view(report, number_of_attempt=1)
    causes = [f"{one['title']}. {one['message']}" for one in view["causes"]]
    first = causes[0] if causes else view["reason"]

    assert report.status is habit.status
    assert habit.told in first
    assert bool(first) == bool(habit.told)
    assert len(causes) <= 1
    assert [mark["line"] for mark in view["marks"][:1]] == ([habit.line] if habit.line else view["marks"][:1] and [1])
    assert "see there" not in first.lower()
    assert not any(f"{case.name}/" in json.dumps(view) for case in EXERCISE.spec.cases)


@pytest.mark.parametrize(
    ("source", "when"),
    [
        ("def softmax(x, dim=-1):\n    while True: pass\n", "In the case"),
        (
            "N = sum(iter(lambda: 1, 0))\ndef softmax(x, dim=-1):\n    return x * N\n",
            "While your file was being loaded",
        ),
        ("def softmax(x, dim=-1):\n    for n in range(10**9): print(n)\n", "It prints a lot, and printing takes time"),
    ],
    ids=["in the first call", "for a number that it reads", "in prints"],
)
def test_a_loop_is_placed_where_it_runs(source: str, when: str, box: Box) -> None:
    """A function whose first call does not end was loaded all the same; prints are named as what takes the time."""
    brief = with_limits(Catalog.load()["softmax"], cpu_seconds=1.0)
    causes = report_view(grade(brief, source, seed=3, box=box))["causes"]

    assert [when in cause["message"] for cause in causes] == [True]


@pytest.mark.parametrize("exercise", sorted(Catalog.load()))
def test_the_starter_is_refused_with_a_sentence_of_its_own(exercise: str, box: Box) -> None:
    """Where it is graded all the same, on the command line, it says what is still to be written."""
    starter = Catalog.load()[exercise]
    report = grade(starter, starter.starter, seed=3, box=box)
    view = report_view(report)
    first = view["reason"] or " ".join(f"{one['title']} {one['message']}" for one in view["causes"])

    assert report.score < 50
    own = re.findall(r'NotImplementedError\("(.+)"\)', starter.starter)
    assert any(words in first for words in (*own, "not found", "must"))
    assert not own or "write your code here" in own or "write your code here" not in first
    assert "see there" not in first.lower()


def test_a_condition_without_its_colon_is_no_letter() -> None:
    """Lines that begin with a word of Python's own are code, whatever words follow."""
    for line in (
        "if x is not None",
        "for token in tokens",
        "return weights if causal else scores",
        "raise ValueError here now",
    ):
        assert what_it_is(line, Raised(Stage.LOAD, Blame.ERROR, "SyntaxError", "invalid syntax", 1)) == ""


@pytest.mark.parametrize("line", ["This isn't code, but it explains attention", "Here\u2019s a softmax that works:"])
def test_an_apostrophe_does_not_make_a_sentence_code(line: str) -> None:
    """Python's own message speaks of a string without an end."""
    told = what_it_is(line, Raised(Stage.LOAD, Blame.ERROR, "SyntaxError", "unterminated string literal", 1))

    assert told == "line 1 is text and not Python; remove it, or begin it with #"
