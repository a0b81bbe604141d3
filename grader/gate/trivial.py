"""Answers made up from nothing, or from the inputs: they must not get through."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from grader.box.observations import BuildSeen, CallSeen, Observations, Seen
from grader.box.plan import DTYPES, FLOATS, Call, Plan
from grader.box.seeing import see

Answer = Callable[[Call, tuple[int, ...]], Tensor]  # an output of a given shape, made up from a call's arguments


def pretend(plan: Plan, answer: Answer) -> Observations:
    """Return what would be seen of a program that gives `answer(call, shape)`, with gradients of ones."""
    calls: dict[str, CallSeen] = {}
    for call in plan.calls:
        slots: dict[str, Seen] = {
            slot.key: see(answer(call, slot.shape).to(DTYPES[slot.dtype or call.dtype]), slot) for slot in call.outputs
        }
        gradients = plan.slots(call)[len(call.outputs) :]
        slots |= {slot.key: see(torch.ones(slot.shape, dtype=FLOATS[call.dtype]), slot) for slot in gradients}
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


def _sum(call: Call, shape: tuple[int, ...]) -> Tensor:
    return torch.zeros(shape, dtype=torch.float64) + sum(value.double().sum() for value in _tensors(call))


def _running_mean(call: Call, shape: tuple[int, ...]) -> Tensor:
    """Return at each place the mean over all before it, as uniform causal attention has it; or such weights."""
    for value in reversed([value for value in _tensors(call) if value.dim() > 1]):
        running = value.double().cumsum(-2) / torch.arange(1, value.shape[-2] + 1)[:, None]
        if value.shape[:-1] == shape[:-1]:
            same_width = value.shape[-1] == shape[-1]
            return running if same_width else running.mean(dim=-1, keepdim=True).expand(shape).clone()
    square = torch.ones(shape, dtype=torch.float64).tril() if len(shape) > 1 else _zeros(call, shape)
    return square / square.sum(dim=-1, keepdim=True).clamp(min=1.0)


TRIVIAL: Mapping[str, Answer] = {
    "zeros": _zeros,
    "the mean of an input": _mean,
    "a copy of an input": _copy,
    "the sum of all inputs": _sum,
    "a running mean": _running_mean,
}
