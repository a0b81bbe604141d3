"""Shared mistakes: they fit the steps that they say they replace, whatever the leading axes and the kind of mask."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from grader.exercise.mistakes import Mistake
from grader.exercise.offers import shared

_MISTAKES = shared()
_STEPS: dict[str, tuple[str, ...]] = {
    "scores_of": ("queries", "keys"),
    "scale": ("scores", "d_k"),
    "hide_future": ("scores",),
    "apply_mask": ("scores", "mask"),
    "normalise": ("scores",),
    "mix": ("weights", "values"),
    "drop": ("weights", "dropout"),
    "split": ("x", "num_heads"),
    "merge": ("heads",),
    "project": ("self", "x"),
    "weigh": ("self", "queries", "keys"),
    "gather": ("self", "weights", "values"),
    "leave": ("self", "context"),
}
_BATCH, _HEADS, _TIME, _WIDTH = 2, 3, 5, 4


_WITH_AXES = frozenset({"axes_too_many", "an_axis_too_many"})  # these change a shape, or raise as code does


def _of(*steps: str, keep_axes: bool = False) -> Any:
    chosen = {
        name: wrong
        for name, wrong in _MISTAKES.items()
        if wrong.replaces in steps and not (keep_axes and wrong.name in _WITH_AXES)
    }
    return pytest.mark.parametrize("wrong", chosen.values(), ids=chosen)


def _draw(*shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(len(shape)), dtype=torch.float64)


def _module(make: Callable[[int, int], object]) -> SimpleNamespace:
    """Return what a method of a family needs of its module."""
    width = _HEADS * _WIDTH
    weights = {name: make(width, width) for name in ("W_query", "W_key", "W_value", "W_out")}
    return SimpleNamespace(**weights, num_heads=_HEADS, dropout=nn.Dropout(0.5), training=True)


def test_names_are_not_taken_twice_in_a_module() -> None:
    """Each mistake is found under the name of its function, and there are many."""
    assert len(_MISTAKES) > 80
    assert all(name.endswith(f".{wrong.step.__name__}") for name, wrong in _MISTAKES.items())


@pytest.mark.parametrize("wrong", _MISTAKES.values(), ids=_MISTAKES)
def test_it_has_the_signature_of_its_step_and_speaks_to_the_student(wrong: Mistake) -> None:
    """The parameters are those of the step's first page, and the title is a sentence of up to 80 letters."""
    assert tuple(inspect.signature(wrong.step).parameters) == _STEPS[wrong.replaces]
    assert wrong.title.endswith(".")
    assert len(wrong.title) <= 80
    assert wrong.message


def test_no_step_has_two_mistakes_with_one_title() -> None:
    """They would be one mistake, told in two ways."""
    told = [(wrong.replaces, wrong.title) for wrong in _MISTAKES.values()]
    assert [one for one in told if told.count(one) > 1] == []


@_of("apply_mask", keep_axes=True)
def test_a_mask_of_ones_and_zeros_does_what_one_of_booleans_does(wrong: Mistake) -> None:
    """Whatever goes wrong goes wrong alike; where there is no mask, nothing does."""
    scores = _draw(_BATCH, _HEADS, _TIME, _TIME)
    mask = torch.ones(_BATCH, 1, _TIME, _TIME, dtype=torch.bool).tril()

    found = wrong.step(scores, mask)

    assert found.shape == scores.shape
    assert torch.equal(wrong.step(scores, mask.long()), found) or bool(found.isnan().any())
    assert torch.equal(wrong.step(scores, None), scores)


@_of("hide_future", "normalise", "scale", keep_axes=True)
def test_scores_keep_their_shape(wrong: Mistake) -> None:
    """With a batch and heads in front; other shapes follow."""
    scores = _draw(_BATCH, _HEADS, _TIME, _TIME)
    arguments = (scores, _WIDTH) if wrong.replaces == "scale" else (scores,)

    assert wrong.step(*arguments).shape == scores.shape


@_of("split")
def test_a_split_gives_heads(wrong: Mistake) -> None:
    """The shape is right, so nothing complains."""
    found = wrong.step(_draw(_BATCH, _TIME, _HEADS * _WIDTH), _HEADS)

    assert found.shape == (_BATCH, _HEADS, _TIME, _WIDTH)


@_of("merge")
def test_a_merge_gives_one_row_a_token(wrong: Mistake) -> None:
    """The shape is right, so nothing complains."""
    assert wrong.step(_draw(_BATCH, _HEADS, _TIME, _WIDTH)).shape == (_BATCH, _TIME, _HEADS * _WIDTH)


@_of("project")
def test_projections_may_be_layers_or_bare_matrices(wrong: Mistake) -> None:
    """Where it is not about biases, which a bare matrix has not, both give the three tensors."""
    x = _draw(_BATCH, _TIME, _HEADS * _WIDTH)
    layers = _module(lambda inputs, outputs: nn.Linear(inputs, outputs, dtype=torch.float64))
    matrices = _module(lambda inputs, outputs: _draw(inputs, outputs))

    assert [part.shape for part in wrong.step(layers, x)] == [x.shape] * 3
    if "bias" not in wrong.name:
        assert [part.shape for part in wrong.step(matrices, x)] == [x.shape] * 3


@_of("drop")
def test_dropout_keeps_the_shape_in_both_modes(wrong: Mistake) -> None:
    """It is told the mode by the layer."""
    weights = torch.softmax(_draw(_BATCH, _HEADS, _TIME, _TIME), dim=-1)

    assert wrong.step(weights, nn.Dropout(0.3)).shape == weights.shape
    assert wrong.step(weights, nn.Dropout(0.3).eval()).shape == weights.shape


@_of("weigh", "gather", "leave")
def test_methods_use_what_every_module_has(wrong: Mistake) -> None:
    """W_out, dropout and training, and nothing that one exercise alone would call like that."""
    own = _module(lambda inputs, outputs: nn.Linear(inputs, outputs, dtype=torch.float64))
    rows, square = _draw(_BATCH, _TIME, _HEADS * _WIDTH), _draw(_BATCH, _TIME, _TIME)
    arguments = {"weigh": (rows, rows), "gather": (square, rows), "leave": (rows,)}[wrong.replaces]

    assert wrong.step(own, *arguments).shape == (square if wrong.replaces == "weigh" else rows).shape
