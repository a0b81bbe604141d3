"""The codec: what goes in comes out, and nothing of it is pickled."""

from __future__ import annotations

import dataclasses
import math

import torch
from torch import Tensor

from grader.box.codec import decode_job, encode_job
from grader.box.plan import Call, Entry, Kind, Plan
from tests.box.small import attention_plan


def _same(one: object, other: object) -> bool:
    """Compare two plans part by part, tensors by dtype and value."""
    if isinstance(one, Tensor):
        return isinstance(other, Tensor) and one.dtype == other.dtype and torch.equal(one, other)
    if dataclasses.is_dataclass(one):
        fields = [field.name for field in dataclasses.fields(one)]
        return type(one) is type(other) and all(_same(getattr(one, f), getattr(other, f)) for f in fields)
    if isinstance(one, dict):
        return isinstance(other, dict) and one.keys() == other.keys() and all(_same(one[k], other[k]) for k in one)
    if isinstance(one, tuple):
        return isinstance(other, tuple) and len(one) == len(other) and all(map(_same, one, other))
    return type(one) is type(other) and one == other


def test_a_plan_and_its_source_come_out_as_they_went_in() -> None:
    """Every field survives: dtypes, None, booleans, numbers, axes, the source with its odd characters."""
    plan, source = attention_plan(), 'print("日本語 \\\\ \\" \u202e")\n'

    again, text = decode_job(encode_job(plan, source))

    assert text == source
    assert _same(plan, again)


def test_the_comparison_of_plans_sees_a_changed_number() -> None:
    """The test above can fail."""
    plan = attention_plan()
    changed = dataclasses.replace(plan.calls[0], arguments={**plan.calls[0].arguments, "dim": -2})

    assert not _same(plan, dataclasses.replace(plan, calls=(changed, plan.calls[1])))


def test_a_plan_without_tensors_travels_too() -> None:
    """An exercise may hand over nothing but numbers, infinite ones among them."""
    entry = Entry("descend", Kind.FUNCTION, ("x0", "steps"))
    plan = Plan(entry, (), (Call("one/base", None, {"x0": math.inf, "steps": 3}, ()),))

    again, _ = decode_job(encode_job(plan, ""))

    assert again.calls[0].arguments == {"x0": math.inf, "steps": 3}


def test_tensors_that_share_memory_travel_apart() -> None:
    """Expanded, transposed and repeated tensors are written out as their values."""
    row = torch.arange(3.0, dtype=torch.float64)
    arguments = {"x": row.expand(2, 3), "y": row.expand(2, 3).T, "z": row}
    plan = Plan(Entry("f", Kind.FUNCTION, ("x", "y", "z")), (), (Call("c/base", None, arguments, ()),))

    again, _ = decode_job(encode_job(plan, ""))

    assert _same(dict(plan.calls[0].arguments), dict(again.calls[0].arguments))
