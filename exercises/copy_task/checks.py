"""The copier learns: its loss comes down, and it copies sequences that it has never seen."""

from __future__ import annotations

from grader.checks.evidence import Evidence, Item, Trait
from grader.checks.finding import Finding, failed
from grader.checks.learning import (
    LAST,
    LossOptions,
    Reached,
    TrainingFigure,
    bound_of,
    end_of,
    judge_claim,
    losses,
    right_answers,
    right_tokens,
    tensor,
    training_problem,
    training_work,
)
from grader.checks.registry import check
from grader.exercise.spec import Dimension


@check(
    "loss",
    "training loss",
    Dimension.LEARNING,
    work=training_work,
    after=(),
    needs=(),
    options=LossOptions,
    traits=[Trait.BOUNDS_LOSS],
)
def judge_loss(item: Item, evidence: Evidence) -> Finding:
    """The training loss must come down: the mean of the last steps is `at_most` so much.

    The losses are held against the weights that are left.
    """
    if (problem := training_problem(item, evidence)) is not None:
        return problem
    seen, bound = losses(item, evidence), bound_of(item)
    if len(seen) < tensor(item.case, "source").shape[:2].numel():
        return failed("the loss became NaN or infinite while your attention was trained")
    last = sum(seen[-LAST:]) / LAST
    claim = TrainingFigure(
        last,
        lambda outside: max(last, end_of(outside.losses)),
        lambda loss: loss <= bound,
        f"after {len(seen)} steps the loss must be {bound:g} or less; it went from {seen[0]:.3g} to {{:.3g}}",
        "a loss of {:.3g} in the end",
    )
    return judge_claim(item, evidence, claim)


@check(
    "accuracy",
    "accuracy on unseen sequences",
    Dimension.LEARNING,
    work=training_work,
    after=(),
    needs=(),
    options=Reached,
)
def judge_accuracy(item: Item, evidence: Evidence) -> Finding:
    """Of the tokens that the trained model must say about sequences it has not seen, `at_least` so many must be right.

    Padding is not counted.
    """
    if (problem := training_problem(item, evidence)) is not None:
        return problem
    right, wanted = right_tokens(item, evidence), item.given(Reached).at_least
    claim = TrainingFigure(
        float(right.double().mean()),
        lambda outside: float((right & right_answers(outside.answers, item)).double().mean()),
        lambda share: share >= wanted,
        f"the trained model must predict {wanted:.0%} of the unseen tokens correctly; it predicts {{:.1%}}",
        "{:.1%} of the unseen tokens right",
    )
    return judge_claim(item, evidence, claim)
