"""Holds what a training told against what is known outside of the box, where a submission can forge nothing.

A submission shares its process with the model that is trained around it, so losses and answers are claims. Two things
are asked of them. The first steps are taken again outside, from the same weights, with the reference's attention and,
if that loses something else, with each known mistake's: whoever claims the losses of the first steps has computed an
attention. And the model answers once more outside, with that attention and the weights that the training has left.

An attention that is wrong in a way that is not known here, or that draws random numbers, cannot be run outside. Nothing
that was trained with it counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from grader.box.inline import observe_all
from grader.box.observations import LOSSES, Observations
from grader.box.observe import Load
from grader.box.plan import Build, Call, Plan, Weight
from grader.checks.evidence import Evidence, Item

# How far losses may part by rounding, relative to them: in the first step, and later in the first call. Right answers
# stay below 2e-7; a missing root comes to 5e-4 in the first step, wrong gradients to 1e-3 in the tenth.
_FIRST, _LATER = 1e-5, 1e-4


@dataclass(frozen=True, slots=True, eq=False)
class Rerun:
    """What a case's training comes to outside of the box.

    Attributes:
        lost, told: the losses in the first steps, (steps,), of the reference and of the submission.
        losses: what the last batches lose with the trained weights, (steps,); None where no attention that is known
            here loses in the first steps what the submission told.
        answers: what the model answers with them, as `held_target` is; None likewise.
    """

    lost: Tensor
    told: Tensor
    losses: Tensor | None = None
    answers: Tensor | None = None

    @property
    def parting(self) -> tuple[int, float, float]:
        """The first step, counted from 1, in which the losses are not the same, and both of them; there is one."""
        step = int((~_same(self.lost, self.told)).nonzero()[0])
        return step + 1, float(self.lost[step]), float(self.told[step])


@dataclass(frozen=True, slots=True, eq=False)
class Claims:
    """The calls in which a submission told how its training went: the first one, the last, the answers, the weights."""

    first: Call
    last: Call
    answers: Call
    weights: Call


def rerun(item: Item, evidence: Evidence, claims: Claims) -> Rerun | None:
    """Return what a case comes to outside of the box, None where no attention is at hand; all calls went well."""
    if evidence.known is None:
        return None
    if item.case.name not in evidence.reruns:
        evidence.reruns[item.case.name] = _rerun(evidence, evidence.known(), claims)
    found: Rerun = evidence.reruns[item.case.name]
    return found


def _rerun(evidence: Evidence, known: Iterator[Load], claims: Claims) -> Rerun:
    told = evidence.output(claims.first, claims.first.output("losses"))
    reference = next(known)
    lost = _losses(_begin(evidence.plan, claims.first, len(told)), reference, claims.first)
    attention = reference if _agree(lost, told) else _like(told, known, evidence.plan, claims.first)
    if attention is None:
        return Rerun(lost, told)
    plan, losing = _end(evidence, claims)
    seen = observe_all(plan, attention)
    answered = seen.calls[claims.answers.name].slots.get(claims.answers.outputs[0].key)
    answers = answered.tensor if answered is not None else None
    return Rerun(lost, told, _told(seen, losing), answers)


def _like(told: Tensor, known: Iterator[Load], plan: Plan, first: Call) -> Load | None:
    """Return the attention that loses in the first steps what was told; one step is enough to rule most out."""
    one, all_of_them = _begin(plan, first, 1), _begin(plan, first, len(told))
    for attention in known:
        if _agree(_losses(one, attention, first), told[:1]) and _agree(_losses(all_of_them, attention, first), told):
            return attention
    return None


def _begin(plan: Plan, first: Call, steps: int) -> Plan:
    """Return a plan of the first `steps` steps."""
    batches = {name: value[:steps] if isinstance(value, Tensor) else value for name, value in first.arguments.items()}
    outputs = tuple(replace(slot, shape=(steps,)) if slot.key == LOSSES else slot for slot in first.outputs)
    return replace(plan.only(frozenset({first.name})), calls=(replace(first, arguments=batches, outputs=outputs),))


def _end(evidence: Evidence, claims: Claims) -> tuple[Plan, Call]:
    """Return a plan of what comes after the training, with the weights that it left; and the call for the losses."""
    batches = {name: claims.last.arguments[name] for name in ("source", "target")}
    losing = replace(claims.last, arguments=batches, outputs=claims.last.outputs[:1], training=False)
    plan = evidence.plan.only(frozenset({claims.answers.name}))
    (build,) = plan.builds
    return replace(plan, builds=(_trained(build, evidence, claims.weights),), calls=(losing, claims.answers)), losing


def _trained(build: Build, evidence: Evidence, call: Call) -> Build:
    left = {slot.name: evidence.output(call, slot) for slot in call.outputs}
    return replace(build, weights=tuple(_with(weight, left) for weight in build.weights))


def _with(weight: Weight, left: dict[str, Tensor]) -> Weight:
    return replace(weight, matrix=left[weight.name], bias=left.get(f"{weight.name}.bias"))


def _losses(plan: Plan, attention: Load, call: Call) -> Tensor:
    found = _told(observe_all(plan, attention), call)
    return torch.full((1,), torch.nan) if found is None else found


def _told(seen: Observations, call: Call) -> Tensor | None:
    """Return the losses that a call told, None where it raised: a mistake may fit no model."""
    found = seen.calls[call.name].slots.get(LOSSES) if call.name in seen.calls else None
    return None if found is None or found.tensor is None else found.tensor.double()


def _agree(ours: Tensor, told: Tensor) -> bool:
    return ours.shape == told.shape and bool(_same(ours, told).all())


def _same(ours: Tensor, told: Tensor) -> Tensor:
    """Return for each step whether its losses are the same but for rounding; NaN is never the same."""
    bound = torch.full_like(told, _LATER)
    bound[0] = _FIRST
    return (ours - told).abs() <= bound * ours.abs()
