"""Learning: a model around the submission is trained in the box; whether it learned is decided here.

The case holds `source` and `target`, tokens of shape (chunks, steps, batch, time), which are trained on one chunk a
call, and `held_source`, (held, time), which the model has never seen. What it should answer there, `held_target`,
stays outside. The first two outputs are the losses and the seconds of a chunk, the others what it answers. In the end
the trained weights are sent back, and what was told counts as far as they bear it out: see `grader.checks.rerun`.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import ClassVar

import torch
from torch import Tensor

from grader.box.keys import call_name, output_key
from grader.box.models import PAD
from grader.box.plan import Call, TensorSpec
from grader.checks.evidence import Check, Evidence, Item, Work, base_call
from grader.checks.finding import PASSED, Finding, failed, skipped
from grader.checks.options import Options
from grader.checks.rerun import Claims, Rerun, rerun
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
    return replace(base_call(case), name=call_name(case.name, "answers"), arguments=arguments, outputs=case.outputs[2:])


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
    """Return the calls that train, the one that asks, and the one that reads the weights."""
    return (*training_calls(case), answering_call(case), weights_call(case))


def _outside(item: Item, evidence: Evidence) -> Rerun | None:
    """Return what the training comes to outside of the box, None where nobody can say; there was no problem."""
    first, *_, last, answers, weights = _all_calls(item.case)
    return rerun(item, evidence, Claims(first, last, answers, weights))


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
        seen = losses(item, evidence)
        if len(seen) < tensor(item.case, "source").shape[:2].numel():
            return failed("the loss became NaN or infinite while your attention was trained")
        last = sum(seen[-_LAST:]) / _LAST
        if (found := _outside(item, evidence)) is not None:
            if (doubt := _doubt(found)) is not None:
                return doubt
            last = max(last, _mean(found.losses))
        if last <= bound_of(item):
            return PASSED
        return failed(
            f"after {len(seen)} steps the loss must be {bound_of(item):g} or less; it went from {seen[0]:.3g} to "
            f"{last:.3g}"
        )


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
        right = right_tokens(item, evidence)
        if (found := _outside(item, evidence)) is not None:
            if (doubt := _doubt(found)) is not None:
                return doubt
            right &= _right(found.answers, item)
        share, wanted = float(right.double().mean()), item.given(Reached).at_least
        if share >= wanted:
            return PASSED
        return failed(
            f"the trained model must predict {wanted:.0%} of the unseen tokens correctly; it predicts {share:.1%}"
        )


def right_tokens(item: Item, evidence: Evidence) -> Tensor:
    """Return for each token that had to be said whether it was, one after the other."""
    call = evidence.call(item, "answers")
    return _right(evidence.output(call, call.outputs[0]), item)


def _right(said: Tensor | None, item: Item) -> Tensor:
    target = tensor(item.case, "held_target")
    spoken = torch.full_like(target, PAD) if said is None else said
    return torch.eq(spoken, target)[target != PAD]


def _doubt(found: Rerun) -> Finding | None:
    """Return why what was told cannot count."""
    if found.losses is not None:
        return None
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
        call = evidence.call(item, "answers")
        score = bleu(item, evidence.output(call, call.outputs[0]))
        if (found := _outside(item, evidence)) is not None:
            if (doubt := _doubt(found)) is not None:
                return doubt
            score = min(score, bleu(item, found.answers))
        wanted = item.given(Reached).at_least
        if score >= wanted:
            return PASSED
        return failed(f"the trained translator must reach a BLEU of {wanted:g}; it reaches {score:.1f}")


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
