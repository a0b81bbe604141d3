"""Holds what a training told against what is known outside of the box, where a submission can forge nothing.

A submission shares its process with the model that is trained around it, so losses and answers are claims. The first
steps are taken again outside, from the same weights, with the reference's attention and, if that loses something else,
with each known mistake's: whoever claims the losses of the first steps has computed an attention. It must be the one
that the other cases have seen as well. What it learns is then found outside:

- the reference learns, so its weights are believed: they answer once more outside;
- a mistake may learn nothing, and code that trains could find its weights in another way. So it is trained outside.

An attention that is wrong in a way that is not known here, or that draws random numbers, cannot be run outside. Nothing
that was trained with it counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from grader.box.inline import observe_all
from grader.box.keys import CallName, call_name, case_of
from grader.box.observations import LOSSES, CallSeen, Observations
from grader.box.observe import Load
from grader.box.plan import Call, Plan
from grader.checks.evidence import FLOORS, ROUNDING_MARGIN, Evidence, Item, scale_of

# How far losses may part by rounding, relative to them: in the first step, and later in the first call. Right answers
# stay below 2e-7; a missing root comes to 5e-4 in the first step, wrong gradients to 1e-3 in the tenth.
_FIRST, _LATER = 1e-5, 1e-4
# In what share of the cases the output must be that of the attention that trains. Whoever inverts a mask that no
# training has is right in half of them; code that gives something else wherever it is compared is so in none.
ENOUGH = 0.25
_ALIKE = ROUNDING_MARGIN  # how many times the bound of a right answer an output may be off


@dataclass(frozen=True, slots=True, eq=False)
class Rerun:
    """What a case's training comes to outside of the box.

    Attributes:
        lost, told: the losses in the first steps, (steps,), of the reference and of the submission.
        like: in what share of the cases the same code gives what the attention gives that loses in the first steps
            what the submission told; None where no such attention is known here.
        losses: what the last batches lose with the trained weights, (steps,); None where nothing counts.
        answers: what the model answers with them, as `held_target` is; None likewise.
    """

    lost: Tensor
    told: Tensor
    like: float | None = None
    losses: Tensor | None = None
    answers: Tensor | None = None

    @property
    def parting(self) -> tuple[int, float, float]:
        """The first step, counted from 1, in which the losses are not the same, and both of them; there is one."""
        step = int((~_same(self.lost, self.told)).nonzero()[0])
        return step + 1, float(self.lost[step]), float(self.told[step])


@dataclass(frozen=True, slots=True, eq=False)
class Claims:
    """The calls in which a submission told how its training went: those that train, its weights and its answers."""

    training: tuple[Call, ...]
    weights: Call
    answers: Call

    @property
    def first(self) -> Call:
        """The first one that trains."""
        return self.training[0]


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
    right = _agree(lost, told)
    attention = reference if right else _like(told, known, evidence.plan, claims.first)
    if attention is None:
        return Rerun(lost, told)
    like = _likeness(evidence, attention, claims.first)
    if like < ENOUGH:
        return Rerun(lost, told, like)
    plan, losing = _end(evidence, claims, train=not right)
    seen = observe_all(plan, attention)
    answered = seen.calls[claims.answers.name].slots.get(claims.answers.outputs[0].key)
    answers = answered.tensor if answered is not None else None
    return Rerun(lost, told, like, _told(seen, losing), answers)


def _likeness(evidence: Evidence, attention: Load, trained: Call) -> float:
    """Return in what share of the cases of the code that is trained its output is what `attention` gives."""
    plan = evidence.plan.untrained()
    name = evidence.plan.contract(trained.part).name
    calls = {
        call.name: replace(call, grad_outputs=(), wants=(), max_elements=0)
        for call in plan.calls
        if plan.contract(call.part).name == name and call.name == call_name(case_of(call.name))
    }
    plan = replace(plan.only(frozenset(calls)), calls=tuple(calls.values()), initial_of=())
    seen = observe_all(plan, attention).calls
    wanted = {key: found for key, found in seen.items() if found.raised is None}
    alike = [
        _gives(wanted[key], evidence.observed.calls.get(key), call) for key, call in calls.items() if key in wanted
    ]
    return sum(alike) / len(alike) if alike else 1.0


def _gives(wanted: CallSeen, seen: CallSeen | None, call: Call) -> bool:
    """Return whether a call gave the first output that is wanted, which is the one that a model goes on with."""
    key = call.outputs[0].key
    if seen is None or key not in seen.slots or wanted.slots[key].shape != seen.slots[key].shape:
        return False
    one, other = wanted.slots[key].tensor, seen.slots[key].tensor
    if one is None or other is None:  # a mistake may give what fits no contract
        return one is other
    bound = _ALIKE * FLOORS[call.dtype] * (scale_of(one) or 1.0)
    return torch.allclose(one.double(), other.double(), rtol=0.0, atol=bound, equal_nan=True)


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


def _end(evidence: Evidence, claims: Claims, *, train: bool) -> tuple[Plan, Call]:
    """Return a plan of what comes after the training, and its call for the losses.

    The training comes first, if `train`; else the weights are those that the submission's has left.
    """
    last = claims.training[-1]
    batches = {name: last.arguments[name] for name in ("source", "target")}
    losing = replace(last, name=CallName(f"{last.name} again"), arguments=batches, outputs=last.outputs[:1])
    losing = replace(losing, training=False)
    plan = evidence.plan.only(frozenset({claims.answers.name}))
    if train:
        return replace(plan, calls=(*claims.training, losing, claims.answers)), losing
    (build,) = plan.builds
    left = {slot.name: evidence.output(claims.weights, slot) for slot in claims.weights.outputs}
    return replace(plan, builds=(build.holding(left),), calls=(losing, claims.answers)), losing


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
