"""Answers that must not get through: made up from nothing or from the inputs, or right in every case but one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from grader.box.keys import case_of, input_key
from grader.box.observations import BuildSeen, CallSeen, Observations, Seen
from grader.box.observe import see
from grader.box.plan import DTYPES, FLOATS, Argument, Call, Plan
from grader.checks.evidence import Evidence, Item
from grader.judge.sheet import Sheet
from grader.judge.verdicts import judge

Answer = Callable[[Call, tuple[int, ...]], Tensor]  # an output of a given shape, made up from a call's arguments
Change = Callable[[Tensor], Tensor]


def pretend(plan: Plan, answer: Answer) -> Observations:
    """Return what would be seen of a program that gives `answer(call, shape)`.

    Its gradients are those of the answer where they reach an input, and ones where they do not.
    """
    calls: dict[str, CallSeen] = {}
    for call in plan.calls:
        leaves: dict[str, Argument] = {name: _leaf(value) for name, value in call.arguments.items()}
        given = [answer(replace(call, arguments=leaves), slot.shape) for slot in call.outputs]
        found = _gradients(call, given, [value for value in leaves.values() if _is_real(value)])
        slots: dict[str, Seen] = {
            slot.key: see(value.detach().to(DTYPES[slot.dtype or call.dtype]), slot)
            for slot, value in zip(call.outputs, given, strict=True)
        }
        own = {input_key(name): found.get(id(value)) for name, value in leaves.items()}
        for slot in plan.slots(call)[len(call.outputs) :]:
            gradient = own.get(slot.key)
            gradient = torch.ones(slot.shape) if gradient is None else gradient
            slots[slot.key] = see(gradient.to(FLOATS[call.dtype]), slot)
        calls[call.name] = CallSeen(call.name, slots)
    return Observations(calls, {build.name: BuildSeen(build.name) for build in plan.builds})


def _is_real(value: Any) -> bool:
    return isinstance(value, Tensor) and value.is_floating_point()


def _leaf(value: Argument) -> Argument:
    return value.detach().clone().requires_grad_() if isinstance(value, Tensor) and _is_real(value) else value


def _gradients(call: Call, given: list[Tensor], leaves: list[Any]) -> dict[int, Tensor | None]:
    """Return by leaf what comes back to it from the call's gradients."""
    sent = [(o, g.to(o)) for o, g in zip(given, call.grad_outputs, strict=False) if g is not None and o.requires_grad]
    if not sent:
        return {}
    back = torch.autograd.grad([o for o, _ in sent], leaves, [g for _, g in sent], allow_unused=True)
    return {id(leaf): gradient for leaf, gradient in zip(leaves, back, strict=True)}


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


def _first(call: Call, shape: tuple[int, ...]) -> Tensor:
    """Return the first number of all arguments everywhere, as a search that never moves does."""
    numbers = [value for value in call.arguments.values() if type(value) is float]
    return torch.full(shape, numbers[0], dtype=torch.float64) if numbers else _zeros(call, shape)


TRIVIAL: Mapping[str, Answer] = {
    "zeros": _zeros,
    "the mean of an input": _mean,
    "a copy of an input": _copy,
    "the sum of all inputs": _sum,
    "a running mean": _running_mean,
    "the first number given": _first,
}


# ---- answers to all cases but one


def _larger(value: Tensor) -> Tensor:
    if value.dtype == torch.bool:
        return ~value
    return value * 1.5 if value.is_floating_point() else value + 1


# Zeros lose where anything is wanted; the others keep what checks about who sees whom, or about sums of rows, look at.
CHANGES: Mapping[str, Change] = {
    "zeros": torch.zeros_like,
    "half as much again": _larger,
    "turned by one": lambda value: value.roll(1, -1) if value.dim() else value,
}


def unseen(sheet: Sheet, truth: Evidence) -> Iterator[str]:
    """Yield a complaint for each case in which something else than the truth loses no points.

    Whoever recognises a case and gives anything there must lose points. For each case that points depend on, and for
    each of its outputs and its gradients, the truth is replaced by something else of the same shape. A check that does
    not compare numbers, such as one of shapes or of memory, is no reason to get points for a case: another check must
    look at what it gives.
    """
    right = replace(truth.expected, calls={**truth.expected.calls, **truth.rounded.calls})  # in the dtypes asked for
    for case in dict.fromkeys(item.case.name for item in sheet.items if item.points):
        items = tuple(item for item in sheet.items if item.case.name == case and item.points)
        own = {name: seen for name, seen in right.calls.items() if case_of(name) == case}

        for part in dict.fromkeys(_part(key) for seen in own.values() for key in seen.slots):
            kept = [
                name for name, change in CHANGES.items() if _passes(items, truth, right, _changed(own, part, change))
            ]
            if kept:
                yield (
                    f"case `{case}`: its {part} may be {' or '.join(kept)}, and no points are lost; "
                    "name the case in a check that compares numbers, such as `values` or `gradient_values`"
                )


def _part(key: str) -> str:
    """Return the output that a slot is, or that it is one of the gradients."""
    kind, _, name = key.partition(":")
    return f"output `{name}`" if kind == "output" else "gradients"


def _changed(calls: Mapping[str, CallSeen], part: str, change: Change) -> dict[str, CallSeen]:
    """Return those of a case's calls of which one part comes out as something else."""
    changed = {}
    for name, seen in calls.items():
        slots = {key: _other(slot, change) for key, slot in seen.slots.items() if _part(key) == part}
        if any(not _same(slot.tensor, seen.slots[key].tensor) for key, slot in slots.items()):
            changed[name] = replace(seen, slots={**seen.slots, **slots})
    return changed


def _other(slot: Seen, change: Change) -> Seen:
    return slot if slot.tensor is None else replace(slot, tensor=change(slot.tensor))


def _same(one: Tensor | None, other: Tensor | None) -> bool:
    return one is other or (one is not None and other is not None and bool(((one == other) | other.isnan()).all()))


def _passes(items: tuple[Item, ...], truth: Evidence, right: Observations, changed: Mapping[str, CallSeen]) -> bool:
    """Return whether all checks of a case pass although there is a change."""
    evidence = replace(truth, observed=replace(right, calls={**right.calls, **changed}))
    return bool(changed) and all(line.passed for line in judge(items, evidence))
