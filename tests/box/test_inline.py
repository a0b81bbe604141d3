"""A reference whose modules are built once gives what one that is built anew gives, to the last bit."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from grader.box.inline import Prebuilt, observe_all
from grader.box.observations import Observations
from grader.exercise.catalog import Catalog
from grader.judge.sheet import draw_up

_CATALOG = Catalog.load()


@pytest.mark.parametrize("name", _CATALOG)
def test_modules_that_were_built_before_give_the_same(name: str) -> None:
    """Whatever was observed in between, and whichever seed the first plan had."""
    exercise = _CATALOG[name]
    prebuilt = Prebuilt(exercise.reference())
    for seed in (1, 2, 1):
        plan = draw_up(exercise, seed).plan.untrained()
        lower = plan.only(frozenset(call.name for call in plan.calls if call.dtype != "float64"))
        for one in (plan.in_double(), lower):
            found = prebuilt.observe(one)
            _expect_equal(found, observe_all(one, exercise.reference()))
            assert list(found.builds) == [build.name for build in one.builds], "whether they were built before or not"


def test_only_what_differs_in_numbers_alone_is_taken_again() -> None:
    """Another seed needs no module of its own; constructions of the same names in another precision do."""
    exercise = _CATALOG["multi_head_attention"]
    prebuilt = Prebuilt(exercise.reference())
    plan = draw_up(exercise, 1).plan.untrained().in_double()
    prebuilt.observe(plan)
    built = len(prebuilt._built)
    prebuilt.observe(draw_up(exercise, 2).plan.untrained().in_double())
    assert len(prebuilt._built) == built
    prebuilt.observe(plan.in_dtype("float32"))
    assert len(prebuilt._built) == 2 * built


def _expect_equal(found: Observations, wanted: Observations) -> None:
    assert found.loading == wanted.loading
    assert found.builds == wanted.builds
    assert found.calls.keys() == wanted.calls.keys()
    for name, call in wanted.calls.items():
        other = found.calls[name]
        assert (other.raised, other.modified, other.slots.keys()) == (call.raised, call.modified, call.slots.keys())
        for key, seen in call.slots.items():
            told = other.slots[key]
            assert (name, key, told.presence, told.shape) == (name, key, seen.presence, seen.shape)
            assert _is_same(told.tensor, seen.tensor), (name, key)


def _is_same(one: Tensor | None, other: Tensor | None) -> bool:
    if one is None or other is None:
        return one is other
    return one.dtype == other.dtype and torch.equal(one.nan_to_num(7.5), other.nan_to_num(7.5))
