"""The pictures of what was trained: how its loss came down, its quality against length, and where it looks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from grader.box.keys import output_key
from grader.box.models import PAD
from grader.box.observations import LOSSES
from grader.checks.evidence import Evidence, Item
from grader.checks.learning import answering_call, bound_of, right_tokens, tensor, training_calls
from grader.checks.traits import Trait
from grader.exercise.inputs import Case
from grader.judge.report import Curve, Heatmap, Pane, Series

_MOST_HEADS = 7  # matrices of one picture beside the last one
_SECONDS = output_key("seconds")


def curves(items: Sequence[Item], evidence: Evidence) -> tuple[Curve, ...]:
    """Return the loss of every training over its steps, and how its quality depends on the length of a sentence."""
    trained = _trained(items, evidence)
    return tuple(
        curve for curve in (_losses(items, trained, evidence), _by_length(trained, evidence)) if curve is not None
    )


def looks(items: Sequence[Item], evidence: Evidence) -> Heatmap | None:
    """Return where each trained model looks, side by side, and where each word that it must say comes from.

    Nothing can be expected there: a model may be right without looking where the word comes from.
    """
    trained = _trained(items, evidence)
    panes = [pane for item in trained for pane in _looked(item, evidence, several=len(trained) > 1)]
    if not panes:
        return None
    alignment = _rows(tensor(trained[0].case, "alignment"))
    first, *others = panes
    return Heatmap(
        role="attention",
        title="Attention of your trained models" if len(trained) > 1 else "Attention of your trained model",
        rows="output word",
        columns="input word",
        values=first.values,
        expected=(),
        note="in an unseen sequence",
        name=first.name,
        panes=(*others, Pane("where each word comes from", alignment, ())),
    )


def _trained(items: Sequence[Item], evidence: Evidence) -> list[Item]:
    """Return one item for each case that trains."""
    cases: dict[str, Item] = {}
    for item in items:
        if evidence.plan.contract(item.case.part).kind.trains:
            cases.setdefault(item.case.name, item)
    return list(cases.values())


def _losses(items: Sequence[Item], trained: Sequence[Item], evidence: Evidence) -> Curve | None:
    lines = [(_name(item, trained, evidence), _loss_line(item.case, evidence)) for item in trained]
    series = tuple(
        Series(name, tuple(x for x, _ in line), tuple(y for _, y in line)) for name, line in lines if len(line) > 1
    )
    if not series:
        return None
    bounds = [bound_of(item) for item in items if item.has(Trait.BOUNDS_LOSS)]
    bound = bounds[0] if len(set(bounds)) == 1 and len(trained) == 1 else None
    return Curve("Training loss", "step", "loss", series, bound=bound, note=_speeds(trained, evidence))


def _loss_line(case: Case, evidence: Evidence) -> list[tuple[float, float]]:
    """Return (step, loss) for every step whose loss is a number."""
    points: list[tuple[float, float]] = []
    step = 0
    for call in training_calls(case):
        seen = evidence.observed.calls.get(call.name)
        found = seen.slots.get(LOSSES) if seen is not None else None
        if found is None or found.tensor is None:
            return points
        for loss in found.tensor.tolist():
            step += 1
            if math.isfinite(loss):
                points.append((float(step), float(f"{loss:.4g}")))
    return points


def _name(item: Item, trained: Sequence[Item], evidence: Evidence) -> str:
    """Return what a line is called: the entry point, where there are several."""
    return evidence.plan.contract(item.case.part).name if len(trained) > 1 else "yours"


def _speeds(trained: Sequence[Item], evidence: Evidence) -> str:
    """Return in words how long each training took; the clock is the submission's own, so nothing depends on it."""
    took = {_name(item, trained, evidence): _seconds(item.case, evidence) for item in trained}
    known = {name: seconds for name, seconds in took.items() if seconds > 0}
    if not known:
        return ""
    fastest = min(known, key=lambda name: known[name])
    if len(known) == 1:
        return f"trained in {known[fastest]:.1f} s"
    others = (f"{name} {known[name] / known[fastest]:.1f} times as long" for name in known if name != fastest)
    return f"{fastest} trained the fastest, in {known[fastest]:.1f} s; {', '.join(others)}"


def _seconds(case: Case, evidence: Evidence) -> float:
    seen = (evidence.observed.calls.get(call.name) for call in training_calls(case))
    slots = (call.slots.get(_SECONDS) for call in seen if call is not None)
    total = sum(float(slot.tensor) for slot in slots if slot is not None and slot.tensor is not None)
    return total if math.isfinite(total) else 0.0


def _by_length(trained: Sequence[Item], evidence: Evidence) -> Curve | None:
    series = tuple(
        Series(_name(item, trained, evidence), *_shares(item, evidence))
        for item in trained
        if _answered(item, evidence)
    )
    if not series:
        return None
    longest = max(_lengths(tensor(item.case, "source")).max().item() for item in trained)
    new = any(_lengths(tensor(item.case, "held_target")).max().item() > longest for item in trained)
    note = f"training sentences had at most {longest} words" if new else ""
    return Curve("Correct words, by the length of the sentence", "words", "share of correct words", series, note=note)


def _shares(item: Item, evidence: Evidence) -> tuple[tuple[float, ...], tuple[float, ...]]:
    target = tensor(item.case, "held_target")
    lengths = _lengths(target)[:, None].expand_as(target)[target != PAD]
    right = right_tokens(item, evidence).double()
    known = sorted(set(lengths.tolist()))
    return tuple(map(float, known)), tuple(float(f"{right[lengths == one].mean():.4g}") for one in known)


def _lengths(tokens: Tensor) -> Tensor:
    return (tokens != PAD).sum(dim=-1)


def _answered(item: Item, evidence: Evidence) -> bool:
    call = answering_call(item.case)
    planned = any(known.name == call.name for known in evidence.plan.calls)
    return planned and evidence.problem(call) is None


def _looked(item: Item, evidence: Evidence, several: bool) -> Iterator[Pane]:
    """Yield the attention of the first held-out sequence, a pane a head."""
    if not _answered(item, evidence):
        return
    call = answering_call(item.case)
    weights = evidence.output(call, call.outputs[-1])
    heads = weights.reshape(-1, *weights.shape[-2:])
    for number, head in enumerate(heads[:_MOST_HEADS]):
        names = (evidence.plan.contract(item.case.part).name if several else "", f"head {number}")
        yield Pane(", ".join(names if len(heads) > 1 else names[:1]).strip(", ") or "weights", _rows(head), ())


def _rows(matrix: Tensor) -> tuple[tuple[float, ...], ...]:
    tidy = torch.nan_to_num(matrix.double(), 0.0, 0.0, 0.0)
    return tuple(tuple(float(f"{value:.4g}") for value in row) for row in tidy.tolist())
