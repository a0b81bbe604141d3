"""The pictures of a report, from the observations: attention weights, who sees whom, and gradients."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from grader.box.observations import Presence
from grader.box.plan import Call
from grader.checks.evidence import FLOORS, Evidence, Item
from grader.checks.gradients import gradient_slots
from grader.checks.masking import MOVED, STILL, influence
from grader.judge.report import Bar, Figures, Heatmap
from grader.judge.verdicts import Judged

_LARGEST = 24  # rows or columns that can still be read
_NO_WEIGHT = 1e-9


def draw(judged: Sequence[Judged], evidence: Evidence) -> Figures:
    """Return the pictures; one that the observations do not allow is left out."""
    items = [line.item for line in judged]
    maps = [_attention(items, evidence), _influence(items, evidence)]
    bars = _gradients(items, evidence)
    return Figures(tuple(found for found in maps if found is not None), bars, _note(bars))


def _attention(items: Sequence[Item], evidence: Evidence) -> Heatmap | None:
    """Return the weights of the first batch row and head: returned ones, or else read off an output."""
    found = (draw(item, evidence) for draw in (_returned_weights, _decoded_weights) for item in items)
    return next((heatmap for heatmap in found if heatmap is not None), None)


def _returned_weights(item: Item, evidence: Evidence) -> Heatmap | None:
    slots = [slot for slot in item.case.outputs if slot.name == "weights" and len(slot.shape) > 1]
    if item.spec.check != "values" or not slots or evidence.trouble(call := evidence.call(item, "base")) is not None:
        return None
    truth = evidence.truth(call, slots[0].key)
    assert truth is not None
    yours = _first(evidence.output(call, slots[0]))
    return _weights_map(f"Attention weights, {item.case.title}", slots[0].axes[-2:], yours, _first(truth))


def _decoded_weights(item: Item, evidence: Evidence) -> Heatmap | None:
    """Return the weights that a case was made to show: its values are orthonormal, `decode` undoes them."""
    decode = item.case.decode
    if decode is None or evidence.trouble(call := evidence.call(item, "base")) is not None:
        return None
    slot = call.outputs[0]
    truth, axis = evidence.truth(call, slot.key), slot.axes[-2]
    assert truth is not None
    decoded = (
        _first(output @ decode.flatten(1))[:, : slot.shape[-2]] for output in (evidence.output(call, slot), truth)
    )
    # Decoding leaves rounding noise where there is no weight.
    yours, expected = (torch.where(weights.abs() < _NO_WEIGHT, 0.0, weights) for weights in decoded)
    if not bool(((yours >= 0) & (yours < 1 + _NO_WEIGHT)).all()):
        return None  # something behind the weights is wrong as well, so they cannot be read off
    return _weights_map("Attention weights, read off your output", (axis, axis), yours, expected)


def _weights_map(title: str, axes: tuple[str, ...], yours: Tensor, expected: Tensor) -> Heatmap | None:
    if max(yours.shape) > _LARGEST:
        return None
    wrong = ((expected.abs() < _NO_WEIGHT) & (yours.abs() > _NO_WEIGHT)).nonzero().tolist()
    return Heatmap(
        role="attention",
        title=title,
        rows=axes[0],
        columns=axes[1],
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
            bars.append(Bar(slot.name, value, _largest(truth)))
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
