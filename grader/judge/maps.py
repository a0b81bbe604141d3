"""Heat maps of a report, found by what outputs are and never by an exercise's name.

An output whose expected rows are shares that add up to one holds attention weights; one of bools or with -inf is a
mask; one that differs from the input by the same in every row of the batch adds an encoding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import torch
from torch import Tensor

from grader.box.keys import call_name
from grader.box.plan import Call, TensorSpec
from grader.checks.compare import hides
from grader.checks.evidence import Evidence, Item, magnitude
from grader.checks.influence import Bounds, InfluenceOptions, influence
from grader.checks.traits import Trait
from grader.judge.matrices import LARGEST, Stack, cells_drawn, heatmap, matrix_size, stacked
from grader.judge.report import Heatmap, Role
from grader.judge.verdicts import Judged

_NO_WEIGHT = 1e-9
_SHARES = 1e-6  # by how much rows of shares may miss one
_VISIBLE = 1e-6  # a difference of weights that is worth a word
_GLANCE = 200  # cells that are taken in at a glance
_BATCHED = 3  # axes of something with a batch, positions and features


@dataclass(frozen=True, slots=True, eq=False)
class Drawable:
    """Matrices of some rows and columns under a title; `stack` makes them, for the one that is drawn."""

    rows: int
    columns: int
    title: str
    stack: Callable[[], Stack]


Find = Callable[[Judged, Evidence], Drawable | None]


def attention(judged: Sequence[Judged], evidence: Evidence) -> Heatmap | None:
    """Return the attention weights: returned ones, or else read off an output that was made for it."""
    for find in (_returned_weights, _decoded_weights):
        if (found := _best(judged, evidence, find)) is not None:
            stack, title = found
            return heatmap(stack, "attention", title, _about_weights(stack))
    return None


def mask(judged: Sequence[Judged], evidence: Evidence) -> Heatmap | None:
    """Return a mask, or a bias that hides."""
    return _plain("mask", _best(judged, evidence, _hiding))


def encoding(judged: Sequence[Judged], evidence: Evidence) -> Heatmap | None:
    """Return what is added to each position."""
    return _plain("encoding", _best(judged, evidence, _added))


def output(judged: Sequence[Judged], evidence: Evidence) -> Heatmap | None:
    """Return the first output as it is."""
    return _plain("output", _best(judged, evidence, _whole))


def who_sees_whom(judged: Sequence[Judged], evidence: Evidence) -> Heatmap | None:
    """Return which outputs move when an input changes, and by how much."""
    if (found := _best(judged, evidence, _influence)) is None:
        return None
    stack, title = found
    hidden = stack.expected == 0
    leaks, blind = int((stack.wrong & hidden).sum()), int((stack.wrong & ~hidden).sum())
    return heatmap(stack, "influence", title, influence_note(leaks, blind))


def influence_note(leaks: int, blind: int) -> str:
    """Return how many cells are seen that must not be, and how many are not that must be."""
    notes = [f"{leaks} leak{'s' if leaks > 1 else ''} found"] if leaks else []
    notes += [f"{blind} cell{'s' if blind > 1 else ''} without an effect where there must be one"] if blind else []
    return "; ".join(notes) or "no leaks found"


def _best(judged: Sequence[Judged], evidence: Evidence, find: Find) -> tuple[Stack, str] | None:
    """Return what teaches most: of a case that failed, drawn whole, large but to be taken in at a glance."""
    found = [(line, drawable) for line in judged if (drawable := find(line, evidence)) is not None]
    if not found:
        return None

    def rank(one: tuple[Judged, Drawable]) -> tuple[bool, bool, bool, int]:
        line, drawable = one
        cells = cells_drawn(drawable.rows, drawable.columns)
        large = cells > _GLANCE
        return line.passed, max(drawable.rows, drawable.columns) > LARGEST, large, cells if large else -cells

    best = min(found, key=rank)[1]
    return best.stack().shown(), best.title


def _drawable(shape: Sequence[int], axes: Sequence[str], title: str, stack: Callable[[], Stack]) -> Drawable | None:
    """Return what can be drawn of tensors of a shape; None if that is nothing."""
    size = matrix_size(shape, axes)
    return Drawable(*size, title, stack) if size is not None else None


def _plain(role: Role, found: tuple[Stack, str] | None) -> Heatmap | None:
    if found is None:
        return None
    stack, title = found
    wrong = int(stack.wrong.sum())
    many = f"{wrong} of {stack.wrong.numel()} cells are wrong" if wrong else "every cell is as expected"
    return heatmap(stack, role, title, many)


def _calls(line: Judged, evidence: Evidence) -> Iterator[tuple[Call, TensorSpec, Tensor]]:
    """Yield the plain call of a check's case with each output of numbers and what is expected there."""
    if not line.item.has(Trait.SHOWS_OUTPUTS) or evidence.problem(call := evidence.call(line.item, "base")) is not None:
        return
    for slot in call.outputs:
        if slot.dtype != "int64" and (truth := evidence.truth(call, slot.key)) is not None and truth.dim() > 1:
            yield call, slot, truth.double()


def _returned_weights(line: Judged, evidence: Evidence) -> Drawable | None:
    for call, slot, truth in _calls(line, evidence):
        if len(slot.axes) > 1 and not slot.dtype and _are_shares(truth):
            return _weights(evidence.output(call, slot), truth, slot.axes, f"Attention weights, {line.item.case.title}")
    return None


def _are_shares(expected: Tensor) -> bool:
    if expected.shape[-1] < 2 or not expected.numel() or not float(expected.min()) >= 0:
        return False
    return magnitude(expected.sum(dim=-1) - 1) < _SHARES


def _decoded_weights(line: Judged, evidence: Evidence) -> Drawable | None:
    """Return the weights that a case was made to show: its values are orthonormal, `decode` undoes them."""
    decode = line.item.case.decode
    if decode is None or evidence.problem(call := evidence.call(line.item, "base")) is not None:
        return None
    slot = call.outputs[0]
    truth, axis, time = evidence.truth(call, slot.key), slot.axes[-2], slot.shape[-2]
    assert truth is not None
    both = (tensor @ decode.flatten(1) for tensor in (evidence.output(call, slot), truth))
    # Decoding leaves rounding noise where there is no weight.
    yours, expected = (torch.where(weights.abs() < _NO_WEIGHT, 0.0, weights)[..., :time] for weights in both)
    if not bool(((yours >= 0) & (yours < 1 + _NO_WEIGHT)).all()):
        return None  # something behind the weights is wrong as well, so they cannot be read off
    return _weights(yours, expected, ("...", axis, axis), "Attention weights, read off your output")


def _weights(yours: Tensor, expected: Tensor, axes: Sequence[str], title: str) -> Drawable | None:
    def stack() -> Stack:
        wrong = (expected.abs() < _NO_WEIGHT) & ~(yours.abs() < _NO_WEIGHT)
        return stacked((yours, expected, wrong), axes)

    return _drawable(yours.shape, axes, title, stack)


def _about_weights(stack: Stack) -> str:
    if many := int(stack.wrong.sum()):
        return f"nonzero weights in {many} cells that must be zero"
    off = float((stack.yours - stack.expected).abs().nan_to_num(torch.inf).max())
    if off > _VISIBLE:
        return f"weights are off by up to {off:.3g}"
    hidden = bool((stack.expected == 0).any())
    return "all masked weights are zero" if hidden else "every weight is as expected"


def _hiding(line: Judged, evidence: Evidence) -> Drawable | None:
    for call, slot, truth in _calls(line, evidence):
        if slot.dtype == "bool" or hides(truth):
            return _compared(line, evidence, (call, slot), (evidence.output(call, slot), truth))
    return None


def _added(line: Judged, evidence: Evidence) -> Drawable | None:
    """Return output minus input, where that is the same in every row of the batch."""
    case = line.item.case
    for call, slot, truth in _calls(line, evidence):
        given = [case.arguments[name] for name in case.wants]
        if len(given) != 1 or not isinstance(x := given[0], Tensor) or x.shape != truth.shape or truth.dim() < _BATCHED:
            return None
        if truth.shape[0] == 1:
            return None  # alone, every output looks as if it only added something
        added = truth - x
        if not torch.allclose(added, added[:1].expand_as(added), rtol=0, atol=1e-9) or not added.any():
            return None
        drawn = _compared(line, evidence, (call, slot), (evidence.output(call, slot) - x, added))
        return replace(drawn, title=f"What is added to each position, {case.title}") if drawn is not None else None
    return None


def _whole(line: Judged, evidence: Evidence) -> Drawable | None:
    for call, slot, truth in _calls(line, evidence):
        return _compared(line, evidence, (call, slot), (evidence.output(call, slot), truth))
    return None


def _compared(
    line: Judged, evidence: Evidence, where: tuple[Call, TensorSpec], both: tuple[Tensor, Tensor]
) -> Drawable | None:
    (call, slot), (yours, expected) = where, both

    def stack() -> Stack:
        wrong = ~((yours == expected) | ((yours - expected).abs() <= evidence.bound(call, slot.key)))
        return stacked((yours, expected, wrong), slot.axes)

    return _drawable(yours.shape, slot.axes, f"`{slot.name}`, {line.item.case.title}", stack)


def _influence(line: Judged, evidence: Evidence) -> Drawable | None:
    item = line.item
    if not item.has(Trait.SHOWS_INFLUENCE) or (options := item.given(InfluenceOptions)).axis == "batch":
        return None
    of_case = call_name(item.case.name, "")
    if any(evidence.problem(call) for call in evidence.plan.calls if call.name.startswith(of_case)):
        return None
    slot, (seen, _, _) = evidence.call(item, "base").output(options.output), influence(item, evidence)
    axes = (*slot.axes[: slot.axes.index(options.rows) + 1], options.axis)
    title = f"Attention pattern, {item.case.title}"
    return _drawable(seen.shape, axes, title, partial(_influence_stack, item, evidence, axes))


def _influence_stack(item: Item, evidence: Evidence, axes: Sequence[str]) -> Stack:
    call, options, (seen, expected, scale) = (
        evidence.call(item, "base"),
        item.given(InfluenceOptions),
        influence(item, evidence),
    )
    bounds = Bounds.of(call.dtype, scale)
    leaks = ((seen > bounds.moved) | seen.isnan()) & (expected < bounds.still)
    wrong = leaks | ((seen < bounds.moved) & (expected > bounds.clear))
    still = (torch.where(moved < bounds.still, 0.0, moved) for moved in (seen, expected))
    columns = f"{' and '.join(options.of)}, {options.axis}"
    return replace(stacked((*still, wrong), axes), rows=f"{options.output}, {options.rows}", columns=columns)
