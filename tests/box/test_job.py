"""A job: what goes in comes out, and nothing of it is pickled."""

from __future__ import annotations

import dataclasses
import math

import pytest
import torch
from torch import Tensor

from grader.box.keys import call_name, output_key
from grader.box.plan import DTYPES, Call, Entry, Kind, Plan, TensorSpec
from grader.box.wire.job import decode_job, encode_job
from tests.box.small import attention_plan, numbers


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
    plan, source = dataclasses.replace(attention_plan(), device="cuda"), 'print("日本語 \\\\ \\" \u202e")\n'

    again, text = decode_job(encode_job(plan, source))

    assert text == source
    assert _same(plan, again)


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


def test_gradients_have_memory_of_their_own() -> None:
    """A submission may write into one in its backward pass: no other tensor of the job may change with it."""
    plan = attention_plan()
    first = dataclasses.replace(plan.calls[0], name="small/more")

    again, _ = decode_job(encode_job(dataclasses.replace(plan, calls=(*plan.calls, first)), ""))

    gradient, other = again.calls[0].grad_outputs[0], again.calls[2].grad_outputs[0]
    assert gradient is not None
    assert other is not None
    assert gradient.untyped_storage().nbytes() == gradient.nbytes
    assert gradient.data_ptr() % 64 == 0  # as torch's own are, so that it rounds as elsewhere
    gradient.zero_()
    assert torch.equal(other, numbers(4, 2))
    assert all(_same(one, two) for one, two in zip(plan.builds, again.builds, strict=True))
    assert _same(tuple(call.arguments for call in (*plan.calls, first)), tuple(call.arguments for call in again.calls))


def test_each_use_of_a_tensor_is_a_tensor_of_its_own() -> None:
    """What is handed to two calls lies in two places, so that whoever writes into the one leaves the other."""
    x = numbers(3, 4)
    calls = tuple(Call(call_name("c", str(at)), None, {"x": x, "y": x}, ()) for at in range(2))

    again, _ = decode_job(encode_job(Plan(Entry("f", Kind.FUNCTION, ("x", "y")), (), calls), ""))

    tensors = [tensor for call in again.calls for tensor in call.arguments.values() if isinstance(tensor, Tensor)]
    tensors[0].zero_()
    assert len({tensor.data_ptr() for tensor in tensors}) == 4
    assert all(torch.equal(tensor, x) for tensor in tensors[1:])


def test_the_slots_of_calls_come_out_as_they_went_in() -> None:
    """With their axes, and with a dtype or without."""
    slots = (
        TensorSpec(output_key("y"), ("time",), (3,), "bool"),
        TensorSpec(output_key("y"), (), (3,)),
        TensorSpec(output_key("z"), (), ()),
    )
    calls = tuple(Call(call_name("c", str(at)), None, {}, slots) for at in range(3))

    again, _ = decode_job(encode_job(Plan(Entry("f", Kind.FUNCTION, ()), (), calls), ""))

    assert [call.outputs for call in again.calls] == [slots] * 3


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=DTYPES.keys())
def test_tensors_of_all_dtypes_and_odd_sizes_stand_in_their_places(dtype: torch.dtype) -> None:
    """Some whose bytes are no multiple of eight, empty ones and single numbers lie between the others."""
    shapes = ((3,), (), (0, 2), (3,), (1, 1, 5), (2, 3))
    arguments = {f"x{at}": (10 * numbers(*shape, seed=at)).to(dtype) for at, shape in enumerate(shapes)}
    arguments["last"] = numbers(2, 2)
    plan = Plan(Entry("f", Kind.FUNCTION, tuple(arguments)), (), (Call(call_name("c"), None, arguments, ()),))

    again, _ = decode_job(encode_job(plan, "x" * 5))

    assert list(again.calls[0].arguments) == list(arguments)
    assert _same(arguments, dict(again.calls[0].arguments))
