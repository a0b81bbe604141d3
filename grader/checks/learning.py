"""Learning: a model around the submission is trained in the box; whether it learned is decided here.

The case holds `source` and `target`, tokens of shape (chunks, steps, batch, time), which are trained on one chunk a
call, and `held_source`, (held, time), which the model has never seen. What it should answer there, `held_target`,
stays outside. The first two outputs are the losses and the seconds of a chunk, the others what it answers. In the end
the trained weights are sent back.

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

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from grader.box.inline import observe_all
from grader.box.keys import CallName, call_name, case_of, output_key
from grader.box.observations import LOSSES, CallSeen, Observations
from grader.box.observe import Load
from grader.box.plan import Call, Plan, TensorSpec
from grader.box.train import PAD
from grader.checks.evidence import FLOORS, ROUNDING_MARGIN, Evidence, Item, Options, Work, base_call, scale_of
from grader.checks.finding import PASSED, Finding, failed, skipped
from grader.exercise.inputs import Case

LAST = 10  # steps that the final loss is the mean of; a single batch may be an easy one
# How far losses may part by rounding, relative to them: in the first step, and later in the first call. Right answers
# stay below 2e-7; a missing root comes to 5e-4 in the first step, wrong gradients to 1e-3 in the tenth.
_FIRST, _LATER = 1e-5, 1e-4
# In what share of the cases the output must be that of the attention that trains. Whoever inverts a mask that no
# training has is right in half of them; code that gives something else wherever it is compared is so in none.
_ENOUGH = 0.25
_ALIKE = ROUNDING_MARGIN  # how many times the bound of a right answer an output may be off


def training_calls(case: Case) -> tuple[Call, ...]:
    """Return the calls that train, a chunk each."""
    source, target = tensor(case, "source"), tensor(case, "target")
    steps = source.shape[1]
    return tuple(
        replace(
            base_call(case),
            name=call_name(case.name, f"steps {1 + steps * chunk} to {steps * (chunk + 1)}"),
            arguments={
                "source": source[chunk],
                "target": target[chunk],
                "learning_rate": case.arguments["learning_rate"],
            },
            outputs=case.outputs[:2],
            training=True,
        )
        for chunk in range(len(source))
    )


def answering_call(case: Case) -> Call:
    """Return the call that asks the trained model about sequences it has not seen."""
    arguments = {"source": tensor(case, "held_source")}
    asked = replace(base_call(case), name=call_name(case.name, "answers"), arguments=arguments)
    return replace(asked, outputs=case.outputs[2:], held_out=True)


def weights_call(case: Case) -> Call:
    """Return the call that reads the weights which the training has left."""
    outputs = []
    for weight in case.weights:
        outputs.append(TensorSpec(output_key(weight.name), (), tuple(weight.matrix.shape)))
        if weight.bias is not None:
            outputs.append(TensorSpec(output_key(f"{weight.name}.bias"), (), tuple(weight.bias.shape)))
    called = replace(
        base_call(case), name=call_name(case.name, "trained weights"), arguments={}, outputs=tuple(outputs)
    )
    return replace(called, reads_weights=True)


def training_work(item: Item) -> Work:
    """Return the calls that train, the one that reads the weights, and the one that asks."""
    return Work((*training_calls(item.case), weights_call(item.case), answering_call(item.case)))


def tensor(case: Case, name: str) -> Tensor:
    """Return a tensor argument of the case."""
    value = case.arguments[name]
    assert isinstance(value, Tensor), f"a case that trains has a tensor `{name}`"
    return value


def losses(item: Item, evidence: Evidence) -> list[float]:
    """Return the losses of all steps that were finished."""
    seen = (evidence.observed.calls.get(call.name) for call in training_calls(item.case))
    return [loss for call in seen if call is not None for loss in call.losses()]


def training_problem(item: Item, evidence: Evidence) -> Finding | None:
    """Return why there is nothing to judge: what a call raised, or that the run ended on the way."""
    for call in training_work(item).calls:
        if (problem := evidence.problem(call)) is not None:
            ended = evidence.observed.calls.get(call.name) is None and losses(item, evidence)
            return skipped("because the run ended before the training did") if ended else problem
    return None


class LossOptions(Options):
    """`at_most`, what the loss must come down to."""

    at_most: float


def bound_of(item: Item) -> float:
    """Return what a loss must come down to."""
    return item.given(LossOptions).at_most


class Reached(Options):
    """`at_least`, what the trained model must reach: a share or a score."""

    at_least: float


def right_tokens(item: Item, evidence: Evidence) -> Tensor:
    """Return for each token that had to be said whether it was, one after the other."""
    call = evidence.call(item, "answers")
    return right_answers(evidence.output(call, call.outputs[0]), item)


def right_answers(said: Tensor | None, item: Item) -> Tensor:
    """Return for each token of `held_target` that is no padding whether `said`, tokens of that shape, has it."""
    target = tensor(item.case, "held_target")
    spoken = torch.full_like(target, PAD) if said is None else said
    return torch.eq(spoken, target)[target != PAD]


@dataclass(frozen=True, slots=True)
class TrainingFigure:
    """A figure that a training is judged by.

    Attributes:
        told: what the box says it is.
        borne_out: what it is as far as what was found outside of the box bears it out.
        enough: whether a figure earns the points.
        message, named: what to say of a figure that does not, and what it is called.
    """

    told: float
    borne_out: Callable[[Rerun], float]
    enough: Callable[[float], bool]
    message: str
    named: str


def judge_claim(item: Item, evidence: Evidence, claim: TrainingFigure) -> Finding:
    """Judge a figure as far as it is borne out; where nobody can repeat a training, as it was told."""
    outside = _rerun_once(item, evidence)
    doubt = _doubt(outside) if outside is not None else None
    value = claim.told if outside is None or doubt else claim.borne_out(outside)
    if doubt is None and claim.enough(value):
        return PASSED
    contradiction = ""
    if outside is not None and claim.enough(claim.told):
        contradiction = _contradiction(item, evidence, claim, outside.lost if doubt else value)
    return replace(doubt or failed(claim.message.format(value)), contradiction=contradiction)


def _contradiction(item: Item, evidence: Evidence, claim: TrainingFigure, against: Tensor | float) -> str:
    """Return what a figure that would do contradicts: what it comes to outside, or else the losses told beside it.

    Args:
        against: the figure found outside; where there is none, the losses of the reference in the first steps.
    """
    told = "your training reports " + claim.named.format(claim.told)
    if not isinstance(against, Tensor):
        return f"{told}; repeated outside the sandbox it comes to " + claim.named.format(against)
    seen, begun = losses(item, evidence), float(against[0])
    if seen[0] < begun / 2:
        return (
            f"{told}, and a loss of {seen[0]:.3g} in its first step, where an untrained model loses about {begun:.3g}"
        )
    last = sum(seen[-LAST:]) / LAST
    return f"{told}, though its loss only went from {seen[0]:.3g} to {last:.3g}" if last > seen[0] / 2 else ""


def _doubt(outside: Rerun) -> Finding | None:
    """Return why what was told cannot count."""
    if outside.losses is not None:
        return None
    if outside.like is not None and outside.like < _ENOUGH:
        return failed(
            f"the output of your attention is that of the one which is trained in only {outside.like:.0%} of the "
            "cases; it must compute the same in the training as in the cases"
        )
    step, right, told = outside.parting
    first = "first make the output of your attention right, and the same in every call with the same inputs"
    later = "the output of your attention is right in step 1, so check its gradients"
    return failed(
        "the grader repeats the first training steps outside the sandbox: with a correct attention the "
        f"loss in step {step} is {right:.5g}, yours was {told:.5g}; {first if step == 1 else later}"
    )


def end_of(lost: Tensor | None) -> float:
    """Return the mean of losses, infinite where there is none to be had."""
    mean = float("nan") if lost is None else float(lost[-LAST:].mean())
    return mean if math.isfinite(mean) else math.inf


# ---- the training, as it is outside of the box


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


def _rerun_once(item: Item, evidence: Evidence) -> Rerun | None:
    """Return what a case comes to outside of the box, None where no attention is at hand; all calls went well."""
    if (known := evidence.known) is None:
        return None
    if item.case.name not in evidence.reruns:
        evidence.reruns[item.case.name] = _rerun(item.case, evidence, known())
    outside: Rerun = evidence.reruns[item.case.name]
    return outside


def _rerun(case: Case, evidence: Evidence, known: Iterator[Load]) -> Rerun:
    training, asking = training_calls(case), answering_call(case)
    first, plan = training[0], evidence.plan
    told = evidence.output(first, first.output("losses"))
    reference = next(known)
    lost = _losses(_begin(plan, first, len(told)), reference, first)
    right = _agree(lost, told)
    attention = reference if right else _like(told, known, plan, first)
    if attention is None:
        return Rerun(lost, told)
    like = _likeness(evidence, attention, first)
    if like < _ENOUGH:
        return Rerun(lost, told, like)
    batches = {name: training[-1].arguments[name] for name in ("source", "target")}
    losing = replace(training[-1], name=CallName(f"{training[-1].name} again"), arguments=batches, training=False)
    losing = replace(losing, outputs=losing.outputs[:1])
    plan = plan.only(frozenset({asking.name}))
    if right:  # then its weights are believed
        (build,), weights = plan.builds, weights_call(case)
        left = {slot.name: evidence.output(weights, slot) for slot in weights.outputs}
        plan = replace(plan, builds=(build.holding(left),), calls=(losing, asking))
    else:
        plan = replace(plan, calls=(*training, losing, asking))
    seen = observe_all(plan, attention)
    answered = seen.calls[asking.name].slots.get(asking.outputs[0].key)
    return Rerun(lost, told, like, _told_losses(seen, losing), answered.tensor if answered is not None else None)


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


def _losses(plan: Plan, attention: Load, call: Call) -> Tensor:
    lost = _told_losses(observe_all(plan, attention), call)
    return torch.full((1,), torch.nan) if lost is None else lost


def _told_losses(seen: Observations, call: Call) -> Tensor | None:
    """Return the losses that a call told, None where it raised: a mistake may fit no model."""
    slot = seen.calls[call.name].slots.get(LOSSES) if call.name in seen.calls else None
    return None if slot is None or slot.tensor is None else slot.tensor.double()


def _agree(ours: Tensor, told: Tensor) -> bool:
    return ours.shape == told.shape and bool(_same(ours, told).all())


def _same(ours: Tensor, told: Tensor) -> Tensor:
    """Return for each step whether its losses are the same but for rounding; NaN is never the same."""
    bound = torch.full_like(told, _LATER)
    bound[0] = _FIRST
    return (ours - told).abs() <= bound * ours.abs()
