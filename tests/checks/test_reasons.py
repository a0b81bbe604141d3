"""What a report says first is what the student has to mend first."""

from __future__ import annotations

from pathlib import Path

import einops
import pytest
import torch

from grader.box.observations import Blame, Raised, Stage
from grader.box.plan import TensorSpec
from grader.checks.compare import cause_of_nan, named
from grader.checks.explain import explain
from grader.checks.finding import Verdict
from grader.exercise.catalog import ROOT, Catalog, Exercise, read_exercise
from tests.checks.workshop import ATTEND, ATTEND_TOML, BLOCK, BLOCK_TOML, build, change, grade_here, line


@pytest.fixture
def block(tmp_path: Path) -> Exercise:
    """A module with dropout."""
    return build(tmp_path, BLOCK_TOML, BLOCK)


def test_dropout_left_on_is_said_before_any_wrong_number(tmp_path: Path) -> None:
    """The values are wrong in some way at each call; that they differ from call to call explains it."""
    steady = '\n[[checks]]\ncheck = "steady"\npoints = 0\ncases = ["small"]\n'
    block = build(tmp_path, BLOCK_TOML + steady, BLOCK)
    report = grade_here(block, change(BLOCK, ("y = self.dropout(y)", "y = torch.dropout(y, 0.5, True)")))

    assert line(report, "small: output values").message.startswith("two equal calls give different results: `y`")


def test_what_is_kept_from_call_to_call_is_said_before_any_leak(tmp_path: Path) -> None:
    """A function that adds what it gave before moves everywhere, whatever was changed."""
    source = change(
        ATTEND, ("return output, weights", "output = attend.sum = attend.sum + output\n    return output, weights")
    )

    report = grade_here(build(tmp_path, ATTEND_TOML, ATTEND), source + "\nattend.sum = 0.0\n")

    assert line(report, "small: attention pattern").message.startswith(
        "two equal calls give different results: `output`"
    )


def test_a_right_dropout_on_a_wrong_forward_pass_is_right(block: Exercise) -> None:
    """The forward pass pays for itself, and dropout is held against what it was given."""
    report = grade_here(block, change(BLOCK, ("y = self.dropout(y)", "y = self.dropout(y * 1.5)")))

    assert line(report, "small: output values").status is Verdict.FAILED
    assert line(report, "training: dropout in training").status is Verdict.PASSED


@pytest.mark.parametrize(
    "wrong",
    ["y = self.dropout(y) * (0.7 if self.training else 1.5)", "y = y * 0", "y = y * 1.5", "y = y * float('nan')"],
)
def test_a_wrong_dropout_on_a_wrong_forward_pass_earns_nothing(block: Exercise, wrong: str) -> None:
    """Neither may an output of zeros, off which nothing can be read."""
    found = line(grade_here(block, change(BLOCK, ("y = self.dropout(y)", wrong))), "training: dropout in training")

    assert found.earned == 0


_FLOW = change(BLOCK_TOML, ('check = "no_parameters"', 'check = "gradient_flow"'))
_LINEAR = "y = self.W_query(x)"


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (
            ("self.dropout =", "self.W_query.requires_grad_(False); self.dropout ="),
            "`W_query`: it does not ask for one",
        ),
        ((_LINEAR, "y = self.W_query(x) * 0"), "`x` is zero everywhere: either your output does not depend on it, or"),
        ((_LINEAR, "y = self.W_query(x).round()"), "`x` is zero everywhere: either your output does not depend on it"),
        ((_LINEAR, "y = self.W_query(x.detach())"), "`x`: either your output does not depend on it, or the graph is"),
        ((_LINEAR, "y = x @ torch.rand(4, 6) + self.W_query.bias"), "`W_query`: either your output does not depend on"),
    ],
)
def test_a_gradient_that_never_came_is_told_with_what_was_seen(
    edit: tuple[str, str], words: str, tmp_path: Path
) -> None:
    """Whether it was asked for is seen. Whether the graph is cut is not, nor whether a zero has no influence."""
    report = grade_here(build(tmp_path, _FLOW, BLOCK), change(BLOCK, edit))

    assert words in line(report, "small: gradient flow").message


_TWICE = """
from functools import wraps
_run = {entry}.forward
_twice = lambda value: value * 2 if isinstance(value, Tensor) and value.is_floating_point() else value
{entry}.forward = wraps(_run)(
    lambda self, *given, **named: _run(self, *map(_twice, given), **{{n: _twice(value) for n, value in named.items()}})
)
"""
_THROUGH_DROPOUT = [
    name for name, one in Catalog.load().items() if any(c.check == "dropout_gradient" for c in one.spec.checks)
]


@pytest.mark.parametrize("name", _THROUGH_DROPOUT)
def test_a_right_dropout_is_not_blamed_for_a_wrong_forward_pass(name: str) -> None:
    """Its gradient cannot be told there: the points are lost, and the reason is the output."""
    exercise = read_exercise(ROOT / "exercises" / name)
    entry = exercise.spec.entry
    if entry.constructor:
        report = grade_here(exercise, exercise.reference_path.read_text("utf-8") + _TWICE.format(entry=entry.name))

        (found,) = [check for check in report.checks if check.name.endswith("gradients through dropout")]
        assert (found.status, found.earned) == (Verdict.SKIPPED, 0)
        assert found.message.startswith("because your output in evaluation mode is wrong")


_MASK = torch.ones(2, 4, 4, dtype=torch.float64)


@pytest.mark.parametrize(
    ("places", "words"),
    [
        ((slice(None), 0), "2 of 8 rows are NaN, the same in each matrix: 0 / 0"),
        ((0, 2), "1 of 8 rows is NaN, different ones in each matrix: 0 / 0"),
        ((1, 2, 3), "1 of 32 numbers is NaN, not whole rows: 0 / 0, 0 · ∞, ∞ / ∞ and ∞ - ∞ give NaN"),
        ((slice(None),), "all of it is NaN: 0 / 0"),
    ],
)
def test_nan_is_told_by_where_it_stands(places: tuple[int | slice, ...], words: str) -> None:
    """Where it stands is a fact; no cause is guessed that the exercise may not have, such as a mask."""
    seen = _MASK.clone()
    seen[places] = torch.nan

    assert words in cause_of_nan(seen, _MASK)
    assert cause_of_nan(_MASK, _MASK) == ""
    assert cause_of_nan(seen, seen) == ""  # where NaN belongs, it is nobody's fault


def test_a_covered_up_nan_is_told_from_the_gradient(tmp_path: Path) -> None:
    """The output is right, and the gradient is not: what was covered up comes back."""
    source = change(
        ATTEND,
        (
            "return output, weights",
            "output = torch.where(output < 9, output, (output * 0).sqrt() / 0)\n    return output, weights",
        ),
    )

    found = line(grade_here(build(tmp_path, ATTEND_TOML, ATTEND), source), "small: gradient flow").message

    assert "although your output has none. In the backward pass 0 times inf is NaN" in found


def test_a_wrong_dtype_is_told_along_with_a_wrong_shape(tmp_path: Path) -> None:
    """Otherwise the one comes to light only once the other is mended."""
    source = change(ATTEND, ("return output, weights", "return (output > 0)[None], weights"))

    found = line(grade_here(build(tmp_path, ATTEND_TOML, ATTEND), source), "small: shape and dtype").message

    assert "yours has shape (1, 2, 4, 6), and is bool; it must be float64, as the input is" in found


def test_an_axis_that_is_called_by_its_size_is_a_bare_number() -> None:
    """`(batch 3, 1 1, 1 1, key 7)` is no place."""
    assert named(("batch", "1", "1", "key"), (3, 1, 1, 7)) == "(batch 3, 1, 1, key 7)"
    assert TensorSpec("output:mask", ("batch", "1", "1", "key"), (3, 1, 1, 7)).name == "mask"


def test_a_starter_is_told_once_to_write_its_code(tmp_path: Path) -> None:
    """By its own words where it has some; torch raises the same error with another meaning."""
    attend = build(tmp_path, ATTEND_TOML, ATTEND)
    raised = 'raise NotImplementedError("write your attention here")'
    report = grade_here(attend, change(ATTEND, ("output = weights @ value", raised)))

    assert "write your attention here" in (message := line(report, "small: shape and dtype").message)
    assert "write your code here" not in message
    assert report.location is None or "write your code here" not in report.location.message


@pytest.mark.parametrize(
    ("call", "cause"),
    [
        ("rearrange(torch.ones(7), 'a b -> b a')", "Wrong shape: expected 2 dims. Received 1-dim tensor"),
        ("rearrange(torch.ones(3, 5), '(h d) t -> h d t', h=7)", "can't divide axis of length 3 in chunks of 7"),
        ("rearrange(torch.ones(3, 5), 'a b -> b c')", "Identifiers only on one side of expression"),
        ("repeat(torch.ones(3), 'a -> a b')", "Specify sizes for new axes in repeat"),
        ("reduce(torch.ones(3, 5), 'a b -> a', 'middle')", "Unknown reduction middle"),
    ],
)
def test_of_an_error_of_einops_the_pattern_and_the_cause_are_told(call: str, cause: str) -> None:
    """What stands before them fills the sentence: it was cut before the cause."""
    with pytest.raises((einops.EinopsError, NotImplementedError)) as error:
        eval(call, {**vars(einops), "torch": torch})
    told = explain(Raised(Stage.CALL, Blame.ERROR, type(error.value).__name__, str(error.value)))

    assert cause in told
    assert "Error while processing" not in told or "…" not in told
