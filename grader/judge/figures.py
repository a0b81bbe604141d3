"""The pictures of a report, from the observations: attention weights, who sees whom, gradients, and curves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torch import Tensor

from grader.box.observations import Presence
from grader.checks.evidence import Evidence, Item, scale_of
from grader.checks.gradients import gradient_slots
from grader.checks.traits import Trait
from grader.judge import curves, maps, training_plots
from grader.judge.report import Bar, Figures, Heatmap
from grader.judge.verdicts import Judged


def draw(judged: Sequence[Judged], evidence: Evidence, grown_bytes: int = 0) -> Figures:
    """Return the pictures; one that the observations do not allow is left out.

    `grown_bytes` is by how much the student's process grew, as seen from outside; 0 where nobody saw.
    """
    items = [line.item for line in judged]
    bars = _gradients(items, evidence)
    lines = [
        *training_plots.curves(items, evidence),
        curves.memory(judged, evidence, grown_bytes),
        curves.path(judged, evidence),
    ]
    return Figures(
        heatmaps=tuple(_maps(judged, evidence)),
        gradients=bars,
        gradients_note=_note(bars),
        curves=tuple(curve for curve in lines if curve is not None),
    )


def _maps(judged: Sequence[Judged], evidence: Evidence) -> Iterator[Heatmap]:
    """Yield the matrices worth a look; outputs as they are only where nothing says more."""
    looks = training_plots.looks([line.item for line in judged], evidence)
    said = [looks, maps.attention(judged, evidence), maps.mask(judged, evidence)]
    if not any(said):
        said.append(maps.encoding(judged, evidence))
    said.append(maps.who_sees_whom(judged, evidence))
    if not any(said):
        said.append(maps.output(judged, evidence))
    yield from (found for found in said if found is not None)


def _gradients(items: Sequence[Item], evidence: Evidence) -> tuple[Bar, ...]:
    item = next((item for item in items if item.has(Trait.SHOWS_GRADIENTS)), None)
    if item is None or evidence.problem(call := evidence.call(item, "base")) is not None:
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
    return "Every input and every parameter gets a finite gradient."


def _largest(tensor: Tensor) -> float:
    return float(f"{scale_of(tensor):.4g}")
