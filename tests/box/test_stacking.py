"""Stacking: calls that are made as one show what they show one by one, whatever a submission does with its batch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from grader.box.observations import CallSeen, Observations
from grader.box.observe import observe
from grader.box.plan import Call, Entry, Kind, Plan, TensorSpec
from tests.box.small import numbers

_SHAPE = (2, 3, 4)
_SLOT = TensorSpec("output:y", ("batch", "time", "width"), _SHAPE)
_STEPS = 3
Answer = Callable[[Tensor], Any]


def _plan(*, dtype: str = "float64", batched: tuple[str, ...] = ("x",)) -> Plan:
    """Return a plan with the plain call of a case, and calls in which one sample or one place is changed."""
    base = Call("c/base", None, {"x": numbers(*_SHAPE)}, (_SLOT,), dtype=dtype)
    probes = [
        replace(base, name=f"c/x@{step}", arguments={"x": _changed(step)}, batched=batched) for step in range(_STEPS)
    ]
    return Plan(Entry("f", Kind.FUNCTION, ("x",)), (), (base, *probes))


def _with(**changes: Any) -> Plan:
    plan = _plan()
    return replace(plan, calls=tuple(replace(call, **changes) for call in plan.calls))


def _changed(step: int) -> Tensor:
    x = numbers(*_SHAPE).clone()
    x.select(0 if step < 2 else 1, step % 2).mul_(-2.0).add_(1.0)
    return x


def _counted(answer: Answer) -> tuple[Answer, list[tuple[int, ...]]]:
    """Return the answer, and the list of the shapes that it is given."""
    shapes: list[tuple[int, ...]] = []

    def counted(x: Tensor) -> Any:
        shapes.append(tuple(x.shape))
        return answer(x)

    return counted, shapes


def _see(plan: Plan, answer: Answer) -> Observations:
    return Observations.of(observe(plan, lambda: {"f": answer}))


def _one_by_one(plan: Plan) -> Plan:
    return replace(plan, calls=tuple(replace(call, batched=()) for call in plan.calls))


def _same(one: CallSeen, other: CallSeen) -> bool:
    """Return whether two calls show the same, to the last bit."""
    facts = [(seen.raised, seen.modified, seen.slots.keys()) for seen in (one, other)]
    pairs = [(one.slots[key], other.slots[key]) for key in one.slots]
    return facts[0] == facts[1] and all(
        (a.presence, a.shape, a.dtype, a.what) == (b.presence, b.shape, b.dtype, b.what)
        and (
            a.tensor is None
            or (b.tensor is not None and torch.equal(a.tensor.nan_to_num(7.0), b.tensor.nan_to_num(7.0)))
        )
        for a, b in pairs
    )


def test_samples_that_are_apart_are_asked_about_in_one_call() -> None:
    """The inputs of the plain call stand in the larger batch as well; each call gets its own part of the output."""
    answer, shapes = _counted(lambda x: torch.softmax(x @ x.mT, dim=-1) @ x)
    plan = _plan()
    seen = _see(plan, answer)

    assert shapes == [_SHAPE, (2 * (_STEPS + 5), 3, 4)]
    apart = _see(_one_by_one(plan), answer)
    for name, call in apart.calls.items():
        together, alone = seen.calls[name].slots["output:y"], call.slots["output:y"]
        assert together.tensor is not None
        assert alone.tensor is not None
        assert (together.presence, together.shape, together.dtype) == (alone.presence, alone.shape, alone.dtype)
        torch.testing.assert_close(together.tensor, alone.tensor, rtol=0.0, atol=1e-14)


def _first_for_all(x: Tensor) -> Tensor:
    return x + x[:1]


def _last_for_all(x: Tensor) -> Tensor:
    return x + x[-1:]


def _one_before(x: Tensor) -> Tensor:
    return torch.cat((x[:1], x[1:] + x[:-1]))


def _one_after(x: Tensor) -> Tensor:
    return torch.cat((x[:-1] + x[1:], x[-1:]))


def _first_one_only(x: Tensor) -> Tensor:
    y = x.clone()
    y[0] = 0.0
    return y


def _last_one_only(x: Tensor) -> Tensor:
    y = x.clone()
    y[-1] = 0.0
    return y


def _fixed_size(x: Tensor) -> Tensor:
    return x.reshape(2, 12).view(2, 3, 4) * 2


def _writes(x: Tensor) -> Tensor:
    return x.mul_(2.0).clone()


def _undefined(x: Tensor) -> Tensor:
    return torch.where(x > 0, x, torch.nan)


def _infinite(x: Tensor) -> Tensor:
    return torch.where(x > 0, x, torch.inf)


def _raises_where_negative(x: Tensor) -> Tensor:
    if bool((x < -3.0).any()):
        raise ValueError("too small")
    return x * 2


def _shape_of_values(x: Tensor) -> Any:
    return x[: 1 if bool((x < -3.0).any()) else None]


def _sometimes_a_list(x: Tensor) -> Any:
    return [x] if len(x) > 2 else x * 2


def _another_dtype(x: Tensor) -> Tensor:
    return x.float() if len(x) > 2 else x


@pytest.mark.parametrize(
    "answer",
    [
        lambda x: x - x.mean(dim=0),
        lambda x: x / x.abs().max(),
        lambda x: torch.softmax(x, dim=0),
        lambda x: x.roll(1, dims=0),
        lambda x: x.flip(0),
        lambda x: x.cumsum(0),
        lambda x: x + torch.cat(x.chunk(2)[::-1]),
        lambda x: x.view(3, -1, 4).transpose(0, 1).flip(1),
        lambda x: x.flip(0).cumsum(0).flip(0),
        lambda x: x / len(x),
        lambda x: x + torch.rand_like(x),
        _first_for_all,
        _last_for_all,
        _one_before,
        _one_after,
        _first_one_only,
        _last_one_only,
        _fixed_size,
        _writes,
        _undefined,
        _infinite,
        _raises_where_negative,
        _shape_of_values,
        _sometimes_a_list,
        _another_dtype,
    ],
)
def test_whoever_mixes_samples_or_takes_one_size_only_is_asked_one_by_one(answer: Answer) -> None:
    """Nothing of the larger batch is seen: all is as if each call had been made by itself, to the last bit."""
    plan = _plan()
    together, apart = _see(plan, answer), _see(_one_by_one(plan), answer)

    assert together.calls.keys() == apart.calls.keys()
    assert all(_same(together.calls[name], apart.calls[name]) for name in apart.calls)


@pytest.mark.parametrize(
    "plan",
    [
        _plan(dtype="float32"),
        _plan(batched=()),
        _with(traced=True),
        _with(max_elements=1000),
        _plan().only(frozenset(f"c/x@{step}" for step in range(_STEPS))),
        _plan().only(frozenset({"c/base", "c/x@0", "c/x@1"})),
    ],
    ids=["rounded more", "no batch", "traced", "measured", "no plain call", "too few"],
)
def test_calls_are_made_one_by_one_where_nothing_could_be_compared(plan: Plan) -> None:
    """In less precision, without a batch or a plain call, where more is noted, and for two calls, nothing is joined."""
    answer, shapes = _counted(lambda x: x * 2)
    _see(plan, answer)

    assert shapes == [_SHAPE] * len(plan.calls)


def test_inputs_without_a_batch_are_handed_over_as_they_are() -> None:
    """A mask for all samples stays one mask."""
    mask = torch.ones(3, 4, dtype=torch.float64).tril()
    plan = _plan()
    plan = replace(plan, entry=Entry("f", Kind.FUNCTION, ("x", "mask")))
    calls = tuple(replace(call, arguments={**call.arguments, "mask": mask}) for call in plan.calls)
    seen: list[tuple[int, ...]] = []

    def answer(x: Tensor, mask: Tensor) -> Tensor:
        seen.append(tuple(mask.shape))
        return x * mask

    observed = _see(replace(plan, calls=calls), answer)  # type: ignore[arg-type]  # it takes two
    assert seen == [(3, 4)] * 2
    assert all(call.raised is None for call in observed.calls.values())
