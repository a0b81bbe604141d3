"""Bad input, through the real box: each gets its verdict and a message, and leaves the box fit for the next one."""

from __future__ import annotations

from textwrap import dedent, indent

import pytest

from grader.box.run import Box
from grader.exercise.catalog import Catalog, Exercise
from grader.judge.grade import grade
from grader.judge.report import Report, Status
from tests.limited import with_limits

_ID = "self_attention_linear"
_HONEST = """
import math
import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)

    def forward(self, x):
        scores = self.W_query(x) @ self.W_key(x).T / math.sqrt(self.W_key.out_features)
        result = torch.softmax(scores, dim=-1) @ self.W_value(x)
        return result
"""


@pytest.fixture(scope="module")
def exercise(catalog: Catalog) -> Exercise:
    return with_limits(catalog[_ID], cpu_seconds=0.8, wall_seconds=1.0, memory_bytes=256 << 20)


def _forward(code: str) -> str:
    return _HONEST.replace("        scores =", indent(dedent(code).strip(), " " * 8) + "\n        scores =", 1)


def _result(expression: str) -> str:
    return _HONEST.replace("return result", f"return {expression}")


def _constructor(code: str) -> str:
    return _HONEST.replace("super().__init__()", f"super().__init__()\n        {code}")


def _messages(report: Report) -> str:
    return "\n".join([report.reason, *(check.message for check in report.checks), *report.advice])


_NEAR = _HONEST.replace("class SelfAttention(", "class SelfAttentionV2(")
_BAD: dict[str, tuple[str | bytes, Status, str]] = {
    "empty": ("", Status.REJECTED, "your file is empty"),
    "blank": (" \n\t\n", Status.REJECTED, "your file is empty"),
    "too long": ("#" * (256 * 1024 + 1), Status.REJECTED, "at most 256 KiB are allowed"),
    "not UTF-8": (b"x = '\xe9'", Status.REJECTED, "not UTF-8 text (byte 5 is 0xe9)"),
    "a lone surrogate": ("x = '\ud800'", Status.REJECTED, "not UTF-8 text"),
    "a NUL": ("x = 1\ny = '\0'", Status.REJECTED, "a NUL character in line 2"),
    "an archive": (b"PK\x03\x04\x00\x00", Status.REJECTED, "a NUL character in line 1"),
    "a syntax error": (
        "def f(:\n",
        Status.REJECTED,
        "SyntaxError: invalid syntax (while your file was being loaded, line 1)",
    ),
    "nested too deep": ("x = " + "(" * 900 + ")" * 900, Status.REJECTED, "SyntaxError: too many nested parentheses"),
    "no entry": ("import torch", Status.REJECTED, "must define a class called `SelfAttention`"),
    "a near miss": (_NEAR, Status.REJECTED, "it defines `SelfAttentionV2`; if that is it, rename it"),
    "an entry that is no class": ("SelfAttention = 5", Status.REJECTED, "`SelfAttention` must be a class"),
    "a missing module": ("import einops", Status.REJECTED, "must define a class called `SelfAttention`"),
    "an exception at import": (
        "\n1 / 0",
        Status.REJECTED,
        "ZeroDivisionError: division by zero (while your file was being loaded, line 2)",
    ),
    "an exit at import": ("raise SystemExit", Status.REJECTED, "SystemExit"),
    "a constructor's signature": (
        _HONEST.replace("d_in, d_out, qkv_bias=False", "d_in"),
        Status.GRADED,
        "must take an argument `d_out`",
    ),
    "a forward's signature": (
        _HONEST.replace("forward(self, x)", "forward(self, a, b)"),
        Status.GRADED,
        "`forward` needs `b`",
    ),
    "no forward": (
        _HONEST.replace("def forward", "def forwards"),
        Status.GRADED,
        'missing the required "forward" function',
    ),
    "an exception in the constructor": (
        _constructor("raise ValueError('no')"),
        Status.GRADED,
        "ValueError: no (in your constructor, line 10)",
    ),
    "an exception in a call": (
        _forward("x.no_such_thing"),
        Status.GRADED,
        "AttributeError: 'Tensor' object has no attribute 'no_such_thing'",
    ),
    "no super().__init__()": (
        _HONEST.replace("super().__init__()", "pass"),
        Status.GRADED,
        "cannot assign module before Module.__init__() call",
    ),
    "layers in a plain list": (
        _HONEST.replace("self.W_query = nn.Linear", "self.layers = [nn.Linear(1, 1)]; 0 and nn.Linear"),
        Status.UNGRADABLE,
        "use nn.ModuleList",
    ),
    "endless recursion": (_forward("self.forward(x)"), Status.GRADED, "RecursionError"),
    "an infinite loop": (_forward("while True: pass"), Status.TIMEOUT, "it took too long"),
    "an infinite loop at import": ("while True: pass", Status.TIMEOUT, "it took too long"),
    "a sleep": (_forward("import time; time.sleep(60)"), Status.TIMEOUT, "it took too long"),
    "an exit": (_forward("import os; os._exit(0)"), Status.CRASHED, "your code ended its process"),
    "a call below torch": (
        _forward("import ctypes; ctypes.string_at(0)"),
        Status.GRADED,
        "ctypes is not allowed in this exercise",
    ),
    "a flood of output": (
        _forward("import os\nwhile True: os.write(1, b'x' * 4000)"),
        Status.CRASHED,
        "it printed too much",
    ),
    "prints without end": (_forward("while True: print('x' * 4000)"), Status.TIMEOUT, "it took too long"),
    "a wrong shape": (_result("result.T"), Status.GRADED, "must be a tensor of shape"),
    "a missing row": (_result("result[1:]"), Status.GRADED, "yours has shape"),
    "no tensor": (_result("result.tolist()"), Status.GRADED, "you returned a list of"),
    "a tuple": (_result("(result, scores)"), Status.GRADED, "you returned a tuple of 2"),
    "nothing": (_result("None"), Status.GRADED, "you returned None"),
    "NaN": (_result("result * float('nan')"), Status.GRADED, "got nan"),
    "infinity": (_result("result / 0"), Status.GRADED, "inf"),
    "half precision": (_result("result.half()"), Status.GRADED, "must be float64, as the input is; yours is float16"),
    "integers": (_result("result.long()"), Status.GRADED, "must be float64, as the input is; yours is int64"),
    "complex numbers": (_result("result + 0j"), Status.GRADED, "yours is complex128"),
    "a tensor subclass": (
        _result("result.as_subclass(type('T', (torch.Tensor,), {}))"),
        Status.GRADED,
        "you returned a T",
    ),
    "a sparse tensor": (_result("result.to_sparse()"), Status.GRADED, "you returned a torch.sparse_coo tensor"),
    "a view of the input": (_result("x[:, :1].expand_as(result)"), Status.GRADED, "expected"),
    "a cut graph": (_result("result.detach()"), Status.GRADED, "no gradient reaches `x`"),
    "a ready-made answer": (
        _forward("torch.nn.functional.scaled_dot_product_attention(x, x, x)"),
        Status.GRADED,
        "scaled_dot_product_attention is not allowed in this exercise",
    ),
}


def _expect_an_honest_answer_to_pass(exercise: Exercise, box: Box) -> None:
    report = grade(exercise, _HONEST, seed=11, box=box)
    assert (report.score, report.reason) == (100.0, "")


@pytest.mark.parametrize("name", _BAD)
def test_bad_input_gets_its_verdict_and_harms_nobody_else(name: str, exercise: Exercise, box: Box) -> None:
    """The status and the message are the right ones, no point is given for nothing, and the next answer passes."""
    source, status, words = _BAD[name]

    report = grade(exercise, source, seed=7, box=box)

    assert words in _messages(report)
    assert (report.status, report.incident) == (status, "")
    assert report.score < 100
    assert Report.from_json(report.to_json()).to_json() == report.to_json()  # a picture may hold NaN
    _expect_an_honest_answer_to_pass(exercise, box)


_HUNGRY = {
    "one large tensor": "hoard = torch.zeros(1 << 36)",
    "a growing list": "hoard = [torch.ones(1 << 20)]\nwhile True: hoard.append(torch.ones(1 << 20))",
    "many processes": "import os\nwhile True: os.fork()",
}


@pytest.mark.parametrize("name", _HUNGRY)
def test_greed_is_stopped(name: str, exercise: Exercise, box: Box) -> None:
    """Memory and processes are limited by the sandbox; a plain subprocess has no such walls."""
    if not box.name.startswith("sandbox"):
        pytest.skip(f"{box.name} has no limits")

    report = grade(exercise, _forward(_HUNGRY[name]), seed=7, box=box)

    assert report.score == 0
    assert report.status in (Status.GRADED, Status.MEMORY, Status.CRASHED, Status.TIMEOUT)
    assert "memory" in _messages(report).lower() or name == "many processes"
    _expect_an_honest_answer_to_pass(exercise, box)


def test_an_exception_in_one_case_costs_that_case_alone(exercise: Exercise, box: Box) -> None:
    """The other cases keep their points."""
    report = grade(exercise, _forward("assert self.W_key.bias is None, 'no biases please'"), seed=7, box=box)

    assert 0 < report.score < 100
    assert "AssertionError: no biases please" in _messages(report)


def test_what_was_finished_before_the_end_counts(exercise: Exercise, box: Box) -> None:
    """A crash late in the run leaves the points of the cases before it."""
    report = grade(exercise, _forward("if self.W_key.bias is not None: import os; os._exit(3)"), seed=7, box=box)

    assert report.status is Status.CRASHED
    assert "exit code 3" in report.reason
    assert 0 < report.score < 100
    assert "because the run ended before this check" in _messages(report)


def test_a_warning_at_import_costs_nothing(exercise: Exercise, box: Box) -> None:
    """Prints, warnings, heavy demos under `__main__` and forbidden names in comments are not held against anybody."""
    noise = dedent(
        """
        # nn.MultiheadAttention and F.scaled_dot_product_attention are not used here
        import warnings
        warnings.warn("old")
        print("hello \u202e there")
        if __name__ == "__main__":
            while True: pass
        """
    )

    report = grade(exercise, noise + _HONEST, seed=7, box=box)

    assert report.score == 100
    assert "hello <U+202E> there" in report.output
