"""The translator learns: what it says of sentences that it has never seen is held against what it should say."""

from __future__ import annotations

from torch import Tensor

from grader.box.train import PAD
from grader.checks.evidence import Evidence, Item
from grader.checks.finding import Finding
from grader.checks.learning import Reached, TrainingFigure, judge_claim, tensor, training_problem, training_work
from grader.checks.registry import check
from grader.exercise.spec import Dimension


@check("bleu", "BLEU on unseen sentences", Dimension.LEARNING, work=training_work, after=(), needs=(), options=Reached)
def judge_bleu(item: Item, evidence: Evidence) -> Finding:
    """What the trained model says about sentences it has not seen must reach a BLEU of `at_least`, of 100.

    Counted are the sentences that are no longer than those it was trained on.
    """
    if (problem := training_problem(item, evidence)) is not None:
        return problem
    call, wanted = evidence.call(item, "answers"), item.given(Reached).at_least
    score = bleu(item, evidence.output(call, call.outputs[0]))
    claim = TrainingFigure(
        score,
        lambda outside: min(score, bleu(item, outside.answers)),
        lambda reached: reached >= wanted,
        f"the trained translator must reach a BLEU of {wanted:g}; it reaches {{:.1f}}",
        "a BLEU of {:.1f}",
    )
    return judge_claim(item, evidence, claim)


def bleu(item: Item, answers: Tensor | None) -> float:
    """Return the corpus BLEU of answers, (held, time), 0 to 100; 0 where there are none."""
    import sacrebleu  # here, as it takes 0.07 s, and whoever grades anything imports this module

    if answers is None:
        return 0.0
    target, said = tensor(item.case, "held_target"), answers.long()
    longest = int((tensor(item.case, "source") != PAD).sum(dim=-1).max())
    rows = [row for row in range(len(target)) if int((target[row] != PAD).sum()) <= longest]

    def sentences(tokens: Tensor) -> list[str]:
        return [" ".join(str(word) for word in tokens[row][target[row] != PAD].tolist()) for row in rows]

    return float(sacrebleu.corpus_bleu(sentences(said), [sentences(target)], tokenize="none", force=True).score)
