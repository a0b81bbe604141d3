"""Learning: a model around the submission is trained in the box; whether it learned is decided here.

The case holds `source` and `target`, tokens of shape (chunks, steps, batch, time), which are trained on one chunk a
call, and `held_source`, (held, time), which the model has never seen. What it should answer there, `held_target`,
stays outside. The first two outputs are the losses and the seconds of a chunk, the others what it answers. In the end
the trained weights are sent back, and what was told counts as far as they bear it out: see `grader.checks.rerun`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Tensor

from grader.box.keys import call_name, output_key
from grader.box.models import PAD
from grader.box.plan import Call, TensorSpec
from grader.checks.evidence import Check, Evidence, Item, Work, base_call
from grader.checks.finding import PASSED, Finding, failed, skipped
from grader.checks.options import Options
from grader.checks.rerun import ENOUGH, Claims, Rerun, rerun
from grader.checks.traits import Trait
from grader.exercise.inputs import Case
from grader.exercise.spec import Dimension

_LAST = 10  # steps that the final loss is the mean of; a single batch may be an easy one


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


def _all_calls(case: Case) -> tuple[Call, ...]:
    """Return the calls that train, the one that reads the weights, and the one that asks."""
    return (*training_calls(case), weights_call(case), answering_call(case))


def _outside(item: Item, evidence: Evidence) -> Rerun | None:
    """Return what the training comes to outside of the box, None where nobody can say; there was no problem."""
    *training, weights, answers = _all_calls(item.case)
    return rerun(item, evidence, Claims(tuple(training), weights, answers))


def tensor(case: Case, name: str) -> Tensor:
    """Return a tensor argument of the case."""
    value = case.arguments[name]
    assert isinstance(value, Tensor), f"a case that trains has a tensor `{name}`"
    return value


def losses(item: Item, evidence: Evidence) -> list[float]:
    """Return the losses of all steps that were finished."""
    seen = (evidence.observed.calls.get(call.name) for call in training_calls(item.case))
    return [loss for call in seen if call is not None for loss in call.losses()]


class LossOptions(Options):
    """`at_most`, what the loss must come down to."""

    at_most: float


class Reached(Options):
    """`at_least`, what the trained model must reach: a share or a score."""

    at_least: float


def bound_of(item: Item) -> float:
    """Return what a loss must come down to."""
    return item.given(LossOptions).at_most


class Loss(Check):
    """The training loss comes down: the mean of the last steps is `at_most` so much."""

    dimension: ClassVar = Dimension.LEARNING
    title: ClassVar[str] = "training loss"
    needs: ClassVar[tuple[str, ...]] = ()
    options: ClassVar = LossOptions
    traits: ClassVar = frozenset({Trait.BOUNDS_LOSS})

    def work(self, item: Item) -> Work:
        """Train, then ask: the losses are held against the weights that are left."""
        return Work(_all_calls(item.case))

    def judge(self, item: Item, evidence: Evidence) -> Finding:
        """Look at the end of the curve."""
        if (problem := _problem(item, evidence, self.work(item).calls)) is not None:
            return problem
        seen, bound = losses(item, evidence), bound_of(item)
        if len(seen) < tensor(item.case, "source").shape[:2].numel():
            return failed("the loss became NaN or infinite while your attention was trained")
        last = sum(seen[-_LAST:]) / _LAST
        claim = _Claim(
            last,
            lambda found: max(last, _mean(found.losses)),
            lambda loss: loss <= bound,
            f"after {len(seen)} steps the loss must be {bound:g} or less; it went from {seen[0]:.3g} to {{:.3g}}",
            "a loss of {:.3g} in the end",
        )
        return _judged(item, evidence, claim)


class Accuracy(Check):
    """Of the tokens that the trained model must say about sequences it has not seen, a share of `at_least` is right."""

    dimension: ClassVar = Dimension.LEARNING
    title: ClassVar[str] = "accuracy on unseen sequences"
    needs: ClassVar[tuple[str, ...]] = ()
    options: ClassVar = Reached

    def work(self, item: Item) -> Work:
        """Train, then ask."""
        return Work(_all_calls(item.case))

    def judge(self, item: Item, evidence: Evidence) -> Finding:
        """Count the tokens that are right, padding aside; in the box and outside of it."""
        if (problem := _problem(item, evidence, self.work(item).calls)) is not None:
            return problem
        right, wanted = right_tokens(item, evidence), item.given(Reached).at_least
        claim = _Claim(
            _share(right),
            lambda found: _share(right & _right(found.answers, item)),
            lambda share: share >= wanted,
            f"the trained model must predict {wanted:.0%} of the unseen tokens correctly; it predicts {{:.1%}}",
            "{:.1%} of the unseen tokens right",
        )
        return _judged(item, evidence, claim)


def right_tokens(item: Item, evidence: Evidence) -> Tensor:
    """Return for each token that had to be said whether it was, one after the other."""
    call = evidence.call(item, "answers")
    return _right(evidence.output(call, call.outputs[0]), item)


def _right(said: Tensor | None, item: Item) -> Tensor:
    target = tensor(item.case, "held_target")
    spoken = torch.full_like(target, PAD) if said is None else said
    return torch.eq(spoken, target)[target != PAD]


def _share(right: Tensor) -> float:
    return float(right.double().mean())


@dataclass(frozen=True, slots=True)
class _Claim:
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


def _judged(item: Item, evidence: Evidence, claim: _Claim) -> Finding:
    """Judge a figure as far as it is borne out; where nobody can repeat a training, as it was told."""
    found = _outside(item, evidence)
    doubt = _doubt(found) if found is not None else None
    value = claim.told if found is None or doubt else claim.borne_out(found)
    if doubt is None and claim.enough(value):
        return PASSED
    contradiction = ""
    if found is not None and claim.enough(claim.told):
        contradiction = _contradiction(item, evidence, claim, found.lost if doubt else value)
    return replace(doubt or failed(claim.message.format(value)), contradiction=contradiction)


def _contradiction(item: Item, evidence: Evidence, claim: _Claim, against: Tensor | float) -> str:
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
    last = sum(seen[-_LAST:]) / _LAST
    return f"{told}, though its loss only went from {seen[0]:.3g} to {last:.3g}" if last > seen[0] / 2 else ""


def _doubt(found: Rerun) -> Finding | None:
    """Return why what was told cannot count."""
    if found.losses is not None:
        return None
    if found.like is not None and found.like < ENOUGH:
        return failed(
            f"the output of your attention is that of the one which is trained in only {found.like:.0%} of the cases; "
            "it must compute the same in the training as in the cases"
        )
    step, right, told = found.parting
    first = "first make the output of your attention right, and the same in every call with the same inputs"
    later = "the output of your attention is right in step 1, so check its gradients"
    return failed(
        "the grader repeats the first training steps outside the sandbox: with a correct attention the "
        f"loss in step {step} is {right:.5g}, yours was {told:.5g}; {first if step == 1 else later}"
    )


def _mean(lost: Tensor | None) -> float:
    """Return the mean of losses, infinite where there is none to be had."""
    mean = float("nan") if lost is None else float(lost[-_LAST:].mean())
    return mean if math.isfinite(mean) else math.inf


def _problem(item: Item, evidence: Evidence, calls: tuple[Call, ...]) -> Finding | None:
    """Return why there is nothing to judge: what a call raised, or that the run ended on the way."""
    for call in calls:
        if (problem := evidence.problem(call)) is not None:
            ended = evidence.observed.calls.get(call.name) is None and losses(item, evidence)
            return skipped("because the run ended before the training did") if ended else problem
    return None


class Bleu(Check):
    """What the trained model says about sentences it has not seen reaches a BLEU of `at_least`, of 100.

    Counted are the sentences that are no longer than those it was trained on.
    """

    dimension: ClassVar = Dimension.LEARNING
    title: ClassVar[str] = "BLEU on unseen sentences"
    needs: ClassVar[tuple[str, ...]] = ()
    options: ClassVar = Reached

    def work(self, item: Item) -> Work:
        """Train, then ask."""
        return Work(_all_calls(item.case))

    def judge(self, item: Item, evidence: Evidence) -> Finding:
        """Hold the answers against the translations; in the box and outside of it."""
        if (problem := _problem(item, evidence, self.work(item).calls)) is not None:
            return problem
        call, wanted = evidence.call(item, "answers"), item.given(Reached).at_least
        score = bleu(item, evidence.output(call, call.outputs[0]))
        claim = _Claim(
            score,
            lambda found: min(score, bleu(item, found.answers)),
            lambda reached: reached >= wanted,
            f"the trained translator must reach a BLEU of {wanted:g}; it reaches {{:.1f}}",
            "a BLEU of {:.1f}",
        )
        return _judged(item, evidence, claim)


def bleu(item: Item, answers: Tensor | None) -> float:
    """Return the corpus BLEU of answers, (held, time), 0 to 100; 0 where there are none."""
    import sacrebleu  # here, as it takes 0.07 s: only an exercise with a translator needs it

    if answers is None:
        return 0.0
    target, said = tensor(item.case, "held_target"), answers.long()
    longest = int((tensor(item.case, "source") != PAD).sum(dim=-1).max())
    rows = [row for row in range(len(target)) if int((target[row] != PAD).sum()) <= longest]
    spoken, wanted = ([_sentence(tokens[row], target[row]) for row in rows] for tokens in (said, target))
    return float(sacrebleu.corpus_bleu(spoken, [wanted], tokenize="none", force=True).score)


def _sentence(tokens: Tensor, target: Tensor) -> str:
    return " ".join(str(word) for word in tokens[target != PAD].tolist())
