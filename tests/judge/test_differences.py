"""In what way tensors differ: each sentence is said where it is true, and nothing where none is."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from grader.judge.explain.wording import difference
from tests.box.small import numbers

_SCORES = numbers(2, 5, 5)
_FUTURE = torch.ones(5, 5, dtype=torch.bool).triu(1)
_MASKED = _SCORES.masked_fill(_FUTURE, -torch.inf)
_WEIGHTS = _SCORES.softmax(-1)

_SAID = {
    "are 2.5 times the reference's": (_SCORES * 2.5, _SCORES),
    "are each 0.25 less than the reference's": (_SCORES - 0.25, _SCORES),
    "are transposed": (_SCORES.mT, _SCORES),
    "differ in 20 of the 20 places that must be -inf, and are right everywhere else": (
        _SCORES.masked_fill(_FUTURE, -10.0),
        _MASKED,
    ),
    "are -inf in 10 places that must not be, and are right everywhere else": (
        _SCORES.masked_fill(torch.ones(5, 5, dtype=torch.bool).triu(0), -torch.inf),
        _MASKED,
    ),
    "add up to one down each column (axis -2), and not along each row (the last axis)": (_SCORES.softmax(-2), _WEIGHTS),
    "add up to one along axis -3, and not along each row (the last axis)": (_SCORES.softmax(0), _WEIGHTS),
    "do not add up to one along each row (the last axis), as the reference's do": (_SCORES.sigmoid(), _WEIGHTS),
    "are the reference's numbers in different places": (_SCORES.roll(1, 1), _SCORES),
    "hold NaN": (_SCORES.masked_fill(_FUTURE, torch.nan), _SCORES),
}


@pytest.mark.parametrize(("said", "pair"), _SAID.items(), ids=_SAID)
def test_a_difference_is_told_in_words(said: str, pair: tuple[Tensor, Tensor]) -> None:
    """Each kind of difference has its sentence."""
    assert difference([pair], 1e-9) == said


def test_nothing_is_said_where_nothing_is_certain() -> None:
    """Other numbers are other numbers; and what holds for one head alone is not said of all."""
    assert difference([(numbers(2, 5, 5, seed=3), _SCORES)], 1e-9) == ""
    assert difference([(_SCORES * 2, _SCORES), (numbers(2, 5, 5, seed=3), _SCORES)], 1e-9) == ""
