"""The pictures of a report, from the observations: attention weights, who sees whom, and gradients."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from grader.box.observations import Presence
from grader.box.plan import Call, Slot
from grader.checks.evidence import FLOORS, Evidence, Item
from grader.checks.gradients import gradient_slots
from grader.checks.masking import MOVED, STILL, influence
from grader.judge.report import Bar, Figures, Heatmap
from grader.judge.verdicts import Judged

_LARGEST = 24  # rows or columns that can still be read


def draw(judged: Sequence[Judged], evidence: Evidence) -> Figures:
    """Return the pictures; one that the observations do not allow is left out."""
    items = [line.item for line in judged]
    maps = [_attention(items, evidence), _influence(items, evidence)]
    bars = _gradients(items, evidence)
    return Figures(tuple(found for found in maps if found is not None), bars, _note(bars))


def _attention(items: Sequence[Item], evidence: Evidence) -> Heatmap | None:
    """Return the weights of the first batch row and head of the first small case that returns them."""
    for item in items:
        if item.spec.check == "values" and "output:weights" in [slot.key for slot in item.case.outputs]:
            call = evidence.call(item, "base")
            slot = next(slot for slot in call.outputs if slot.key == "output:weights")
            truth = evidence.truth(call, slot.key)
            if evidence.trouble(call) is None and truth is not None and _can_be_read(slot):
                return _attention_map(slot, evidence.output(call, slot), truth, item)
    return None


def _can_be_read(slot: Slot) -> bool:
    return len(slot.shape) > 1 and max(slot.shape[-2:]) <= _LARGEST


def _attention_map(slot: Slot, seen: Tensor, truth: Tensor, item: Item) -> Heatmap:
    yours, expected = _first(seen), _first(truth)
    wrong = ((expected == 0) & (yours.abs() > 1e-9)).nonzero().tolist()
    return Heatmap(
        role="attention",
        title=f"Attention weights, {item.case.title}",
        rows=slot.axes[-2],
        columns=slot.axes[-1],
        values=_rows(yours),
        expected=_rows(expected),
        wrong=tuple((row, column) for row, column in wrong),
        note=f"{len(wrong)} weights where there must be none" if wrong else "no weight where there must be none",
    )


def _influence(items: Sequence[Item], evidence: Evidence) -> Heatmap | None:
    item = next((i for i in items if i.spec.check == "influence" and i.spec.axis != "batch"), None)
    if item is None or any(evidence.trouble(call) for call in _calls_of(item, evidence)):
        return None
    seen, expected, scale = influence(item, evidence)
    yours, right = _first(seen), _first(expected)
    if max(yours.shape) > _LARGEST:
        return None
    floor = FLOORS[evidence.call(item, "base").dtype] * scale
    wrong = (((yours > MOVED * floor) | yours.isnan()) & (right < STILL * floor)).nonzero().tolist()
    return Heatmap(
        role="influence",
        title=f"Who sees whom, {item.case.title}",
        rows=f"{item.spec.output}, {item.spec.rows}",
        columns=f"{' and '.join(item.spec.of)}, {item.spec.axis}",
        values=_rows(yours),
        expected=_rows(right),
        wrong=tuple((row, column) for row, column in wrong),
        note=f"{len(wrong)} leaks found" if wrong else "no leaks found",
    )


def _calls_of(item: Item, evidence: Evidence) -> list[Call]:
    return [call for call in evidence.plan.calls if call.name.startswith(f"{item.case.name}/")]


def _gradients(items: Sequence[Item], evidence: Evidence) -> tuple[Bar, ...]:
    item = next((i for i in items if i.spec.check in ("gradient_flow", "gradient_values")), None)
    if item is None or evidence.trouble(call := evidence.call(item, "base")) is not None:
        return ()
    bars = []
    for slot in gradient_slots(call, evidence):
        truth, seen = evidence.truth(call, slot.key), evidence.seen(call).slots.get(slot.key)
        if truth is not None and seen is not None and evidence.has_gradient(call, slot.key):
            there = seen.presence is Presence.TENSOR and seen.tensor is not None
            value = _largest(seen.tensor) if there and seen.tensor is not None else None
            bars.append(Bar(slot.key.partition(":")[2], value, _largest(truth)))
    return tuple(bars)


def _note(bars: tuple[Bar, ...]) -> str:
    missing = [bar.name for bar in bars if not bar.value]
    if not bars:
        return ""
    if missing:
        return f"No gradient reaches {', '.join(missing)}."
    return "Every input and every weight receives a finite gradient."


def _first(tensor: Tensor) -> Tensor:
    """Return the first matrix of a stack."""
    return tensor.reshape(-1, *tensor.shape[-2:])[0] if tensor.dim() > 2 else tensor


def _rows(matrix: Tensor) -> tuple[tuple[float, ...], ...]:
    tidy = matrix.double().nan_to_num(0.0, 0.0, 0.0)
    return tuple(tuple(float(f"{value:.4g}") for value in row) for row in tidy.tolist())


def _largest(tensor: Tensor) -> float:
    return (
        float(f"{float(torch.nan_to_num(tensor.double(), 0.0, 0.0, 0.0).abs().max()):.4g}") if tensor.numel() else 0.0
    )
