"""Arrangements: the same numbers are found again however they lie, and other numbers are not."""

from __future__ import annotations

import pytest
import torch

from grader.judge.explain.alignment import matching_arrangement, same
from tests.box.small import numbers

_TRUTH = numbers(2, 3, 5, 4)  # batch, heads, time, features
_PLAIN = {
    "as it is": _TRUTH,
    "the last two turned": _TRUTH.mT,
    "heads behind time": _TRUTH.transpose(1, 2),
    "heads in front": _TRUTH.transpose(0, 1),
    "an axis of one": _TRUTH.unsqueeze(2),
}
_LOOSE = {
    "heads in the batch": _TRUTH.flatten(0, 1),
    "heads before the batch": _TRUTH.transpose(0, 1).flatten(0, 1),
    "heads side by side": _TRUTH.transpose(1, 2).flatten(2),
    "one axis more": _TRUTH.unflatten(3, (2, 2)),
}


@pytest.mark.parametrize("values", _PLAIN.values(), ids=_PLAIN)
def test_axes_in_another_order_are_the_same_numbers(values: torch.Tensor) -> None:
    """Such an arrangement is plain: no axes were merged."""
    found = matching_arrangement(values, _TRUTH, 1e-9)

    assert found is not None
    assert found.plain
    assert torch.equal(found.values, _TRUTH)


@pytest.mark.parametrize("values", _LOOSE.values(), ids=_LOOSE)
def test_merged_axes_are_the_same_numbers(values: torch.Tensor) -> None:
    """Such an arrangement is found as well, and is not plain."""
    found = matching_arrangement(values, _TRUTH, 1e-9)

    assert found is not None
    assert not found.plain
    assert torch.equal(found.values, _TRUTH)


def test_other_numbers_are_not_taken_for_the_same() -> None:
    """A split in the wrong order, one changed number, or the same numbers in another order do not match."""
    side_by_side = _TRUTH.transpose(1, 2).flatten(2)
    changed = _TRUTH.clone()
    changed[0, 0, 0, 0] += 1e-6

    assert matching_arrangement(side_by_side.reshape(2, 3, 5, 4), _TRUTH, 1e-9) is None
    assert matching_arrangement(changed, _TRUTH, 1e-9) is None
    assert matching_arrangement(_TRUTH.flatten()[torch.arange(119, -1, -1)].view(2, 3, 5, 4), _TRUTH, 1e-9) is None


def test_equal_sizes_leave_a_doubt() -> None:
    """Where two axes have one size, exchanging them is possible and not sure; where sizes differ, it is sure."""
    square = numbers(2, 5, 5)

    assert matching_arrangement(square.mT, square, 1e-9) is not None
    assert matching_arrangement(square.mT, square, 1e-9, sure=True) is None
    assert matching_arrangement(_TRUTH.mT, _TRUTH, 1e-9, sure=True) is not None


def test_what_is_far_below_counts_as_hidden() -> None:
    """Any very low score will do where -inf is right, but not one that could be seen."""
    truth = torch.tensor([0.5, -1.0, -torch.inf], dtype=torch.float64)

    assert same(torch.tensor([0.5, -1.0, -1e9], dtype=torch.float64), truth, 1e-9)
    assert not same(torch.tensor([0.5, -1.0, -10.0], dtype=torch.float64), truth, 1e-9)
    assert not same(torch.tensor([0.5, -2.0, -torch.inf], dtype=torch.float64), truth, 1e-9)
