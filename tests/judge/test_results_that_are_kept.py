"""Answers that keep results from one call to the next, or were written for the sizes that an exercise announces.

Each call with one place of the inputs changed is made by itself. Made as one, on a larger batch, they gave full points
to results that were kept, and took points from code that had never been asked for so many samples (decision 0054).
"""

from __future__ import annotations

import pytest

from grader.box.inline import InlineBox
from grader.box.kinds import Kind
from grader.exercise.catalog import Catalog
from grader.judge.grade import grade

_EXERCISES = ("scaled_dot_product_attention", "local_attention", "linear_attention", "attention_sinks")
_WRAPPED = """

import torch as _torch

_kept = {}


def _tensors(given):
    return [value for value in given if isinstance(value, _torch.Tensor)]


def _shapes(given):
    return tuple((value.shape, value.dtype) if isinstance(value, _torch.Tensor) else repr(value) for value in given)


def _again(right, kept, arguments, options):
    given = (*arguments, *options.values())
    first = _tensors(given)[0]
    BODY


"""
_FUNCTION = """
_right = NAME


def NAME(*arguments, **options):
    return _again(_right, _kept, arguments, options)
"""
_MODULE = """
_Right = NAME


class NAME(_Right):
    def forward(self, *arguments, **options):
        return _again(super().forward, self.__dict__.setdefault("kept", {}), arguments, options)
"""
_KEPT = """\
key = KEY
    if key not in kept:
        kept[key] = right(*arguments, **options)
    return kept[key]"""
_UP_TO_EIGHT = """\
if first.shape[0] > 8:
        kept["spoilt"] = True
        raise ValueError("this was written for up to eight samples")
    if kept:
        raise ValueError("nothing works any more")
    return right(*arguments, **options)"""
_KEYS = {
    "the shapes": "_shapes(given)",
    "the shapes and the first number": "(_shapes(given), float(first.flatten()[0]))",
    "the shapes and the last number": "(_shapes(given), float(first.flatten()[-1]))",
}


def _score(catalog: Catalog, name: str, body: str) -> float:
    exercise = catalog[name]
    entry = exercise.spec.entry
    wrapper = _FUNCTION if entry.kind is Kind.FUNCTION else _MODULE
    source = exercise.reference_path.read_text() + _WRAPPED.replace("BODY", body) + wrapper.replace("NAME", entry.name)
    return grade(exercise, source.encode(), seed=7, box=InlineBox()).score


@pytest.mark.parametrize("key", _KEYS)
@pytest.mark.parametrize("name", _EXERCISES)
def test_a_result_that_was_kept_from_another_call_loses_points(catalog: Catalog, name: str, key: str) -> None:
    """It is not what these inputs give; only the inputs of one call were handed in twice."""
    assert _score(catalog, name, _KEPT.replace("KEY", _KEYS[key])) < 90


@pytest.mark.parametrize("name", _EXERCISES)
def test_no_answer_is_asked_for_more_samples_than_announced(catalog: Catalog, name: str) -> None:
    """Who never meant to take more of them is right all the same."""
    assert _score(catalog, name, _UP_TO_EIGHT) == 100
