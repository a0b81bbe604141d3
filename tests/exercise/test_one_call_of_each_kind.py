"""An answer that is wrong in one kind of call only loses points, in every exercise that can have such a call."""

from __future__ import annotations

from collections import Counter
from string import Template

import pytest
from torch import Tensor

from grader.box.inline import InlineBox
from grader.box.kinds import Kind
from grader.exercise.catalog import Catalog, Exercise
from grader.judge.grade import decide
from grader.judge.report import Report

# The reference, whose entry point is called by way of `_around`, which each kind of answer defines in its own way.
WRAPPED = """

import inspect as _inspect
import torch as _torch

_right = $name
_kept = {}


def _bound(call, given, named):
    bound = _inspect.signature(call).bind(*given, **named)
    bound.apply_defaults()
    return bound

$around
"""
FUNCTION = """
def $name(*given, **named):
    return _around(_right, given, named)
"""
MODULE = """
class $name(_right):
    def forward(self, *given, **named):
        return _around(super().forward, given, named)
"""
GIVEN_OURS = ("weight_transfer", "attention_patterns")  # these are called with models of ours
ALL = [exercise for exercise in Catalog.load().values() if exercise.id not in GIVEN_OURS]


def graded(exercise: Exercise, around: str, **values: object) -> Report:
    """Return the report on the reference with `around` about its entry point, and `values` filled in there."""
    entry = exercise.spec.entry
    text = WRAPPED.replace("$around", around) + (FUNCTION if entry.kind is Kind.FUNCTION else MODULE)
    added = Template(text).substitute(values, name=entry.name)
    source = exercise.reference_path.read_text(encoding="utf-8") + added
    report, _ = decide(exercise, source, seed=3, box=InlineBox())
    return report


def assert_loses_points(exercise: Exercise, around: str, **values: object) -> None:
    """Show that such an answer loses points, and not all: it is right in all other calls."""
    report = graded(exercise, around, **values)

    assert 0 < report.score < 100, report.reason


SPOILED = """
def _spoil(value):
    if isinstance(value, (tuple, list)):
        return type(value)(map(_spoil, value))
    if not isinstance(value, _torch.Tensor):
        return value
    return ~value if value.dtype == _torch.bool else value + 1


def _around(call, given, named):
    counts = vars(getattr(call, "__self__", _spoil))
    called = counts["called"] = counts.get("called", 0) + 1
    tensors = [one for one in [*given, *named.values()] if isinstance(one, _torch.Tensor)]
    spoiled = $condition
    found = call(*given, **named)
    return _spoil(found) if spoiled else found
"""
KINDS = {
    "under no_grad": "not _torch.is_grad_enabled()",
    "in the third call": "called == 3",
    "with one object twice": "len({id(one) for one in tensors}) < len(tensors)",
}


def applies(exercise: Exercise, kind: str) -> bool:
    """Return whether there is such a call: one that could record gradients, or with two tensors of one shape."""
    cases = [case for case in exercise.cases(1).values() if not case.part]
    if kind == "under no_grad":
        return any(case.wants or case.construct for case in cases)
    if kind == "in the third call":
        return True
    shapes = [
        Counter(tuple(value.shape) for name in case.wants if isinstance(value := case.arguments[name], Tensor))
        for case in cases
    ]
    return any(found and max(found.values()) > 1 for found in shapes)


@pytest.mark.parametrize(
    ("exercise", "kind"),
    [pytest.param(one, kind, id=f"{one.id}, {kind}") for one in ALL for kind in KINDS if applies(one, kind)],
)
def test_an_answer_that_is_wrong_in_one_kind_of_call_loses_points(exercise: Exercise, kind: str) -> None:
    """It is right in all others, so nothing else would find it."""
    assert_loses_points(exercise, SPOILED, condition=KINDS[kind])


def test_an_answer_that_is_never_spoiled_has_full_marks(catalog: Catalog) -> None:
    """So it is the condition that loses points, and not what is put around the reference."""
    for name in ("softmax", "causal_attention", "kv_cache"):
        report = graded(catalog[name], SPOILED, condition="False")

        assert report.score == 100, (name, report.reason)


FORGETFUL = """
def _around(call, given, named):
    rest = [value for key, value in _bound(call, given, named).arguments.items() if key != "$forgets"]
    key = repr([value.tolist() if isinstance(value, _torch.Tensor) else value for value in rest])
    found = call(*given, **named)
    return _kept.setdefault(key, found)
"""
# In evaluation mode p changes nothing, and in training mode chance decides; no result depends on the block size.
EXCUSED = {("attention_dropout", "p"), ("attention_dropout", "training"), ("flash_attention", "block_size")}


def forgettable(exercise: Exercise) -> set[str]:
    """Return the arguments of the call that are no tensors and that cases give several values."""
    cases = [case for case in exercise.cases(1).values() if not case.part]
    names = {name for case in cases for name, value in case.arguments.items() if not isinstance(value, Tensor)}
    tensors = {name for case in cases for name, value in case.arguments.items() if isinstance(value, Tensor)}
    several = {name for name in names if len({repr(case.arguments.get(name)) for case in cases}) > 1}
    return several - tensors - {name for found, name in EXCUSED if found == exercise.id}


FUNCTIONS = [exercise for exercise in ALL if exercise.spec.entry.kind is Kind.FUNCTION]


@pytest.mark.parametrize(
    ("exercise", "name"),
    [pytest.param(one, name, id=f"{one.id}, {name}") for one in FUNCTIONS for name in sorted(forgettable(one))],
)
def test_what_is_kept_for_equal_tensors_must_not_forget_another_argument(exercise: Exercise, name: str) -> None:
    """A table that is kept for a window of 3 is wrong for one of 5; the second call has the same tensors."""
    assert_loses_points(exercise, FORGETFUL, forgets=name)


KEEPING = """
def _around(call, given, named):
    bound = _bound(call, given, named)
    value = bound.arguments["$keeps"]
    if value is not None:
        if (value.dim(), [size == 1 for size in value.shape]) == $form:
            _kept["$keeps"] = value
        return call(*given, **named)
    try:
        return call(**{**bound.arguments, **_kept}) if _kept else call(*bound.args, **bound.kwargs)
    except (RuntimeError, IndexError):
        return call(*given, **named)
"""


def forms(exercise: Exercise) -> dict[str, list[tuple[int, list[bool]]]]:
    """Return by argument of the call that may be left out the numbers of axes, and which of them are one."""
    calls = [case.arguments for case in exercise.cases(1).values() if not case.part]
    own = exercise.spec.entry.arguments
    left_out = {name for given in calls for name, value in given.items() if value is None and name in own}
    tensors = [(n, v) for given in calls for n, v in given.items() if n in left_out and isinstance(v, Tensor)]
    found: dict[str, list[tuple[int, list[bool]]]] = {}
    for name, value in tensors:
        form = (value.dim(), [size == 1 for size in value.shape])
        if form not in found.setdefault(name, []):
            found[name].append(form)
    return found


@pytest.mark.parametrize(
    ("exercise", "name", "form"),
    [
        pytest.param(one, name, form, id=f"{one.id}, {name}, {form}")
        for one in ALL
        for name, several in forms(one).items()
        for form in several
    ],
)
def test_what_was_given_in_one_call_must_not_be_kept_for_the_next(
    exercise: Exercise, name: str, form: tuple[int, list[bool]]
) -> None:
    """A mask of one form that is kept, and used where none is given, wherever it fits."""
    assert_loses_points(exercise, KEEPING, keeps=name, form=form)


MISREADING = """
def _around(call, given, named):
    bound = _bound(call, given, named)
    mask, first = bound.arguments["$mask"], next(iter(bound.arguments.values()))
    if mask is not None and mask.dim() == 2 and 2 < first.dim() and len(first) == len(mask):
        bound.arguments["$mask"] = mask.reshape(len(mask), *[1] * (first.dim() - 2), -1)
    return call(*bound.args, **bound.kwargs)
"""
SQUARE = [(one, name) for one in ALL for name, several in forms(one).items() if any(axes == 2 for axes, _ in several)]


@pytest.mark.parametrize(("exercise", "name"), [pytest.param(*one, id=one[0].id) for one in SQUARE])
def test_a_mask_for_all_sequences_is_not_taken_for_one_of_each(exercise: Exercise, name: str) -> None:
    """With as many sequences as queries a mask (T_q, T_k) could be one row for each sequence, and is not."""
    assert_loses_points(exercise, MISREADING, mask=name)


SHORT = """
def _around(call, given, named):
    length = [*given, *named.values()][$position].shape[$axis]
    first_length = vars(call.__self__).setdefault("first_length", length)
    found = call(*given, **named)
    return found if length <= first_length else _nan(found)


def _nan(value):
    return type(value)(map(_nan, value)) if isinstance(value, (tuple, list)) else value * float("nan")
"""
_LENGTHS = ("time", "keys", "time_2", "source")


def lengths(exercise: Exercise) -> list[tuple[int, int]]:
    """Return which argument has an axis that is a length, and where."""
    inputs = list(exercise.spec.inputs.values())
    found = [
        (n, one.axes.index(axis) - len(one.axes))
        for n, one in enumerate(inputs)
        for axis in _LENGTHS
        if axis in one.axes
    ]
    return found[:1]


MODULES = [one for one in ALL if one.spec.entry.kind is Kind.MODULE and lengths(one)]


@pytest.mark.parametrize("exercise", [pytest.param(one, id=one.id) for one in MODULES])
def test_what_the_first_call_was_long_enough_for_is_not_enough_for_the_next(exercise: Exercise) -> None:
    """Tables and masks that are made in the first call, and too small for a longer one on the same module."""
    ((position, axis),) = lengths(exercise)
    assert_loses_points(exercise, SHORT, position=position, axis=axis)
