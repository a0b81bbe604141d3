"""Answers made up from nothing, or from the inputs: they must not get through."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from grader.box.observations import BuildSeen, CallSeen, Observations, Presence, Seen
from grader.box.plan import DTYPES, Call, Plan
from grader.box.seeing import see

Answer = Callable[[Call, tuple[int, ...]], Tensor]  # an output of a given shape, made up from a call's arguments


def pretend(plan: Plan, answer: Answer) -> Observations:
    """Return what would be seen of a program that gives `answer(call, shape)` and has no gradients."""
    calls: dict[str, CallSeen] = {}
    for call in plan.calls:
        slots: dict[str, Seen] = {
            slot.key: see(answer(call, slot.shape).to(DTYPES[slot.dtype or call.dtype]), slot) for slot in call.outputs
        }
        slots |= {slot.key: Seen(Presence.NONE) for slot in plan.slots(call)[len(call.outputs) :]}
        calls[call.name] = CallSeen(call.name, slots)
    return Observations(calls, {build.name: BuildSeen(build.name) for build in plan.builds})


def _tensors(call: Call) -> list[Tensor]:
    return [v for v in call.arguments.values() if isinstance(v, Tensor) and v.is_floating_point()]


def _zeros(call: Call, shape: tuple[int, ...]) -> Tensor:
    return torch.zeros(shape, dtype=torch.float64)


def _mean(call: Call, shape: tuple[int, ...]) -> Tensor:
    for value in reversed(_tensors(call)):
        mean = value.mean(dim=-2, keepdim=True) if value.dim() > 1 else value.mean()
        if mean.shape[-1:] == shape[-1:] or mean.dim() == 0:
            try:
                return mean.expand(shape).clone()
            except RuntimeError:  # it has more axes than the output, or others
                continue
    return _zeros(call, shape)


def _copy(call: Call, shape: tuple[int, ...]) -> Tensor:
    same = (value for value in _tensors(call) if tuple(value.shape) == shape)
    return next(same, _zeros(call, shape)).clone()


TRIVIAL: Mapping[str, Answer] = {"zeros": _zeros, "the mean of an input": _mean, "a copy of an input": _copy}
