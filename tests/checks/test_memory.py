"""The check `memory`: a bound on the largest tensor of a forward pass, its points, its words, and its picture."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.box.run import Box
from grader.errors import AuthorError
from grader.exercise.catalog import Exercise
from grader.judge.grade import grade
from grader.judge.report import Report, Status, Verdict
from grader.judge.sheet import draw_up
from tests.checks.workshop import build, change, grade_here, line

_TOML = """
format_version = 1
title = "A mean"
summary = "For tests."
track = "Tests"
order = 1
difficulty = "easy"
minutes = 1
sources = ["None"]

[entry]
name = "smooth"
kind = "function"
arguments = ["x"]

[inputs.x]
axes = ["time", "width"]
[returns.y]
axes = ["time", "width"]

[[cases]]
name = "short"
title = "short"
sizes = { time = 30, width = 3 }
[[cases]]
name = "long"
title = "long"
sizes = { time = 50, width = 3 }

[[checks]]
check = "shape"
points = 20
cases = ["short", "long"]
[[checks]]
check = "values"
points = 40
cases = ["short"]
[[checks]]
check = "gradient_values"
points = 10
cases = ["short"]
[[checks]]
check = "memory"
points = 30
cases = ["long", "short"]
max_elements = "time*time"
"""

_RIGHT = """
import torch

def smooth(x):
    return torch.stack([torch.softmax(x @ row, dim=0) @ x for row in x])
"""
_TABLE = """
import torch

def smooth(x):
    return torch.softmax(x @ x.T, dim=-1) @ x
"""
_MISTAKES = """
import torch
from grader.exercise.mistakes import mistake

@mistake(replaces="smooth", dimension="memory")
def holds_all(x):
    '''You hold a table.

    Look at its size.
    '''
    return torch.softmax(x @ x.T, dim=-1) @ x

@mistake(replaces="smooth", dimension="numerics")
def twice(x):
    '''You double everything.

    Look for a 2.
    '''
    return torch.stack([torch.softmax(x @ row, dim=0) @ x for row in x]) * 2
"""


@pytest.fixture(scope="module")
def exercise(tmp_path_factory: pytest.TempPathFactory) -> Exercise:
    """A mean over all rows, to be had without a table of all pairs."""
    return build(tmp_path_factory.mktemp("smooth"), _TOML, _RIGHT, _MISTAKES)


def _named(report: Report) -> list[str]:
    return [diagnosis.mistake for diagnosis in report.diagnosis]


def test_an_answer_without_a_table_passes(exercise: Exercise) -> None:
    """All points, and nothing to say."""
    report = grade_here(exercise, _RIGHT)

    assert report.score == 100
    assert report.diagnosis == ()


def test_a_table_costs_the_points_of_memory_alone(exercise: Exercise) -> None:
    """The message has the bound, where it comes from, and what was seen; and the mistake is named."""
    report = grade_here(exercise, _TABLE)

    found = line(report, "long: largest tensor")
    assert found.status is Verdict.FAILED
    assert "may have as many as 50 (time) x 50 (time) = 2500 elements; your largest has 2500" in found.message
    assert report.score == 70
    assert _named(report) == ["holds_all"]
    assert report.diagnosis[0].certain


def test_a_bound_may_be_a_sum(tmp_path: Path) -> None:
    """The message has each of its parts."""
    sums = build(
        tmp_path,
        change(_TOML, ('max_elements = "time*time"', 'max_elements = "time*width + 7*time"')),
        _RIGHT,
        _MISTAKES,
    )

    found = line(grade_here(sums, _TABLE), "long: largest tensor")

    assert "as many as 50 (time) x 3 (width) + 7 x 50 (time) = 500 elements; your largest has 2500" in found.message


def test_a_table_does_not_hide_another_mistake(exercise: Exercise) -> None:
    """What else is wrong is named all the same; memory counts only where nothing else is wrong."""
    assert _named(grade_here(exercise, _TABLE.replace("@ x\n", "@ x * 2\n"))) == ["twice"]


def test_a_table_where_only_one_case_has_it_is_not_the_mistake(exercise: Exercise) -> None:
    """Which cases reach the bound has to agree."""
    source = _RIGHT.replace("    return", "    if len(x) > 40: x @ x.T\n    return")

    report = grade_here(exercise, source)

    assert line(report, "long: largest tensor").status is Verdict.FAILED
    assert line(report, "short: largest tensor").status is Verdict.PASSED
    assert report.diagnosis == ()


def test_the_backward_pass_is_not_looked_at(exercise: Exercise) -> None:
    """A function of one's own may hold a table on the way back."""
    source = """
import torch

class Smooth(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.stack([torch.softmax(x @ row, dim=0) @ x for row in x])

    @staticmethod
    def backward(ctx, upstream):
        with torch.enable_grad():
            x = ctx.saved_tensors[0].detach().requires_grad_()
            y = torch.softmax(x @ x.T, dim=-1) @ x
        return torch.autograd.grad(y, x, upstream)[0]

def smooth(x):
    return Smooth.apply(x)
"""
    assert grade_here(exercise, source).score == 100


def test_taking_the_gauge_away_costs_the_points(exercise: Exercise) -> None:
    """Without a measurement there is nothing to give points for, and the call itself goes on as if nothing was."""
    source = _TABLE.replace("def smooth(x):", "def smooth(x):\n    pop()").replace(
        "import torch",
        "import torch\nfrom torch.utils import _python_dispatch as modes\n"
        "def pop():\n    if modes._get_current_dispatch_mode() is not None: modes._pop_mode()",
    )

    report = grade_here(exercise, source)

    assert "could not be measured" in line(report, "long: largest tensor").message
    assert line(report, "short: output values").status is Verdict.PASSED
    assert report.score == 70


_IN_NUMPY = """
import numpy as np
import torch

class Smooth(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        a = x.detach().numpy()
        weights = np.exp(a @ a.T)
        found = (weights / weights.sum(-1, keepdims=True)) @ a
        AFTERWARDS
        return torch.from_numpy(found)

    @staticmethod
    def backward(ctx, upstream):
        with torch.enable_grad():
            x = ctx.saved_tensors[0].detach().requires_grad_()
            y = torch.softmax(x @ x.T, dim=-1) @ x
        return torch.autograd.grad(y, x, upstream)[0]

def smooth(x):
    return Smooth.apply(x)
"""


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Exercise:
    """The same, forbidding ready-made attention as every exercise with this check does."""
    toml = change(_TOML, ("[entry]\n", 'forbidden = ["attention"]\n\n[entry]\n'))
    return build(tmp_path_factory.mktemp("strict"), toml, _RIGHT, _MISTAKES)


def test_a_table_in_numpy_costs_the_points_of_memory_alone(strict: Exercise, box: Box) -> None:
    """What is held outside of torch counts in the process that runs the submission."""
    report = grade(strict, _IN_NUMPY.replace("AFTERWARDS", ""), seed=3, box=box)

    assert "may have as many as 50 (time) x 50 (time) = 2500 elements" in line(report, "long: largest tensor").message
    assert (line(report, "short: output values").status, report.score) == (Verdict.PASSED, 70)


@pytest.mark.parametrize("lie", ["reset_peak()", "stop()", "clear_traces()", "start(25)"])
def test_to_meddle_with_what_measures_memory_is_trapped(lie: str, strict: Exercise, box: Box) -> None:
    """No answer needs it, and the case in which it happens earns nothing, whether it is caught or not."""
    caught = f"try: __import__('tracemalloc').{lie}\n        except Exception: pass"

    report = grade(strict, _IN_NUMPY.replace("AFTERWARDS", caught), seed=3, box=box)

    assert report.score == 0
    assert any(clue.what == f"tracemalloc.{lie.partition('(')[0]}" for clue in report.clues)


def test_memory_that_nothing_measures_is_trapped(strict: Exercise, box: Box) -> None:
    """Pages of one's own from the kernel are no place for a table."""
    own = "memory = __import__('mmap').mmap(-1, 8 * len(a) ** 2)\n        np.frombuffer(memory)[:] = weights.ravel()"

    report = grade(strict, _IN_NUMPY.replace("AFTERWARDS", own), seed=3, box=box)

    assert report.score == 0


def test_a_right_answer_that_keeps_all_its_tensors_passes(strict: Exercise, box: Box) -> None:
    """Python's own objects for hundreds of tensors are no table."""
    source = _RIGHT.replace("    return", "    kept = [x[0] + n for _ in range(9) for n in range(len(x))]\n    return")

    assert grade(strict, source, seed=3, box=box).score == 100


def test_an_exception_costs_the_memory_points_too(exercise: Exercise) -> None:
    """The case is told once, under its shape; memory is skipped, which gives no points."""
    report = grade_here(exercise, _RIGHT.replace("    return", "    assert len(x) < 40\n    return"))

    assert line(report, "long: largest tensor").status is Verdict.SKIPPED
    assert line(report, "short: largest tensor").status is Verdict.PASSED


def test_one_call_serves_every_check_on_the_case(exercise: Exercise) -> None:
    """What is measured is the very call whose values are compared and whose gradients come back."""
    plan = draw_up(exercise, seed=3).plan

    plain = [call for call in plan.calls if not call.default_dtype]
    assert [call.name for call in plain] == ["short/base", "long/base"]
    assert [call.max_elements for call in plain] == [900, 2500]
    assert [bool(call.grad_outputs) for call in plain] == [True, False]


def test_the_curve_shows_yours_the_expected_and_the_bound(exercise: Exercise) -> None:
    """By length, whatever the order of the cases."""
    report = grade_here(exercise, _TABLE)

    (curve,) = report.figures.curves
    lines = {series.name: (series.xs, series.ys) for series in curve.series}
    assert (curve.title, curve.x, curve.y) == ("Memory against time", "time", "elements of the largest tensor")
    assert lines == {
        "yours": ((30.0, 50.0), (900.0, 2500.0)),
        "expected": ((30.0, 50.0), (90.0, 150.0)),
        "time x time": ((30.0, 50.0), (900.0, 2500.0)),
    }
    assert curve.note == "2 of 2 sequences reach time x time"


def test_the_curve_of_code_that_raises_lacks_its_point(exercise: Exercise) -> None:
    """The others are there; and a report with a curve can be written and read."""
    report = grade_here(exercise, _RIGHT.replace("    return", "    assert len(x) < 40\n    return"))

    (curve,) = report.figures.curves
    assert curve.series[0].name == "yours"
    assert curve.series[0].xs[:1] == (30.0,)
    assert Report.from_json(report.to_json()) == report


def test_a_bound_is_needed(tmp_path: Path) -> None:
    """An author who leaves it out is told so."""
    broken = build(tmp_path, change(_TOML, ('max_elements = "time*time"\n', "")), _RIGHT, _MISTAKES)

    with pytest.raises(AuthorError, match="needs `max_elements`"):
        draw_up(broken, seed=0)


def test_a_bound_that_the_input_reaches_is_refused(tmp_path: Path) -> None:
    """No answer could pass."""
    broken = build(tmp_path, change(_TOML, ('max_elements = "time*time"', 'max_elements = "time"')), _RIGHT, _MISTAKES)

    with pytest.raises(AuthorError, match="an input or output has 150 elements, and `max_elements` is 50"):
        draw_up(broken, seed=0)


def test_an_exercise_without_the_check_has_no_curve(exercise: Exercise, tmp_path: Path) -> None:
    """Nor has one with a single measured case: a point is no line."""
    single = build(tmp_path, change(_TOML, ('cases = ["long", "short"]', 'cases = ["long"]')), _RIGHT, _MISTAKES)

    report = grade_here(single, _RIGHT)

    assert report.status is Status.GRADED
    assert report.figures.curves == ()


def test_a_table_is_not_excused_by_numbers_that_are_wrong_there_only(exercise: Exercise) -> None:
    """Else whoever gives zeros in the measured case alone would have the points for holding little."""
    ends = _RIGHT.replace("    return", "    x = x * 0 if len(x) > 40 else x\n    return")
    found = line(grade_here(exercise, ends), "long: largest tensor")

    assert (found.status, found.earned) == (Verdict.SKIPPED, 0)
    assert "wrong in this case and right in others" in found.message
