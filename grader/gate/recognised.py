"""Answers that are right in every case but one: whoever recognises a case and gives anything there must lose points.

For each case that points depend on, and for each of its outputs and its gradients, the truth is replaced by something
else of the same shape. A check that does not compare numbers, such as one of shapes or of memory, is no reason to get
points for a case: another check must look at what it gives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import torch
from torch import Tensor

from grader.box.keys import case_of
from grader.box.observations import CallSeen, Observations, Seen
from grader.checks.evidence import Evidence, Item
from grader.judge.sheet import Sheet
from grader.judge.verdicts import judge

Change = Callable[[Tensor], Tensor]


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
    """Yield a complaint for each case in which something else than the truth loses no points."""
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
