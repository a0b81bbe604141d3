"""Training: what goes into the box, what comes out, and that the verdict is reached outside."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial

import pytest
import torch
from torch import Tensor, nn

from grader.box.drivers import carried
from grader.box.inline import InlineBox, observe_all
from grader.box.keys import call_name, case_of
from grader.box.observations import CallSeen, Observations, Presence, Seen
from grader.box.plan import Call, Plan, TensorSpec
from grader.box.run import Ending, Run
from grader.box.train import PAD, Learner
from grader.box.wire.job import encode_job
from grader.checks.evidence import Evidence, Item
from grader.checks.finding import Finding, Verdict
from grader.checks.learning import answering_call, tensor, training_calls, weights_call
from grader.checks.registry import checks
from grader.errors import GraderFault
from grader.exercise.catalog import ROOT, Catalog, Exercise, read_exercise
from grader.judge.attempt import attempt
from grader.judge.grade import grade, observe_reference
from grader.judge.sheet import Sheet, draw_up


class Loud(nn.Module):
    """A model that prints whatever it does."""

    def __init__(self) -> None:
        """Hold one number."""
        super().__init__()
        self.number = nn.Parameter(torch.tensor(1.0))

    def loss(self, source: Tensor, target: Tensor) -> Tensor:
        """Return something that can be brought down."""
        print("looking at", int(source[0, 0]))
        return self.number**2

    def answer(self, source: Tensor) -> tuple[Tensor, ...]:
        """Return what was asked."""
        print("answering")
        return (source,)


COPYING, TRANSLATING = "copy_task", "compare_variants"


@cache
def lab(name: str) -> Exercise:
    """Return a lab."""
    return read_exercise(ROOT / "exercises" / name)


@cache
def sheet(name: str) -> Sheet:
    """Return its sheet."""
    return draw_up(lab(name), 3)


def line(name: str, check: str) -> Item:
    """Return the first line of a check."""
    return next(one for one in sheet(name).items if one.spec.check == check)


def told(slots: tuple[TensorSpec, ...], *tensors: Tensor) -> dict[str, Seen]:
    """Return tensors as they are seen in their slots."""
    return {
        slot.key: Seen(Presence.TENSOR, value, tuple(value.shape), str(value.dtype).removeprefix("torch."))
        for slot, value in zip(slots, tensors, strict=True)
    }


def judge(name: str, check: str, *, curve: Tensor | None = None, said: Tensor | None = None, done: int = 99) -> Finding:
    """Judge a model that loses `curve`, (steps,), and says `said` in the end; only `done` calls were finished."""
    item = line(name, check)
    calls, last = training_calls(item.case), answering_call(item.case)
    steps = tensor(item.case, "source").shape[1]
    curve = torch.full((steps * len(calls),), 0.01) if curve is None else curve
    said = tensor(item.case, "held_target") if said is None else said
    seen = [
        CallSeen(call.name, told(call.outputs, losses, torch.tensor(0.1)))
        for call, losses in zip(calls, curve.split(steps), strict=True)
    ]
    seen.append(CallSeen(last.name, told(last.outputs, said, torch.zeros(last.outputs[1].shape))))
    left = weights_call(item.case)
    seen.append(CallSeen(left.name, told(left.outputs, *(torch.zeros(slot.shape) for slot in left.outputs))))
    observed = Observations.of(seen[:done])
    return checks()[check].judge(item, Evidence(sheet(name).plan, observed, Observations(), Observations()))


@pytest.mark.parametrize("name", [COPYING, TRANSLATING])
def test_the_box_is_never_told_the_answers(name: str) -> None:
    """No call holds what the model should say of the sequences that are held out, and the reference trains nothing."""
    plan = sheet(name).plan
    trained = [call for call in plan.calls if plan.contract(call.part).kind.trains]

    assert trained
    assert {key for call in trained for key in call.arguments} == {"source", "target", "learning_rate"}
    assert not [call for call in plan.untrained().calls if plan.contract(call.part).kind.trains]
    assert {build.name for build in plan.builds} - {build.name for build in plan.untrained().builds} == {
        call.build for call in trained
    }


def _asked(exercise: Exercise) -> list[tuple[Plan, bytes]]:
    """Return each plan that a box is handed for one grade, and its job; the box trains nothing and answers nothing."""
    sheet, handed = draw_up(exercise, 3), []
    begun = {item.case.name: item.case.weights for item in sheet.items}

    def run(plan: Plan, source: str) -> Run:
        handed.append((plan, encode_job(plan, source, carried(plan))))
        reading = [call for call in plan.calls if call.reads_weights]
        left = [
            CallSeen(call.name, told(call.outputs, *(one.matrix for one in begun[case_of(call.name)])))
            for call in reading
        ]
        return Run(Observations.of(left), Ending.FINISHED)

    attempt(sheet, "", run, partial(observe_reference, exercise))
    return handed


def test_no_job_that_trains_holds_what_is_asked(catalog: Catalog) -> None:
    """In no exercise do the bytes of a job that trains hold a sequence that is held out; the other job holds them."""
    labs = [one for one in catalog.values() if any(part.entry.kind.trains for part in one.spec.parts.values())]
    assert len(labs) > 1
    for exercise in labs:
        plan = draw_up(exercise, 3).plan
        cases = [case for case in exercise.cases(3).values() if "held_source" in case.arguments]
        held = [row.numpy().tobytes() for case in cases for row in tensor(case, "held_source") if bool((row > 0).all())]
        (first, training), (second, asking) = _asked(exercise)

        assert [row for row in held if row in training] == []
        assert all(row in asking for row in held)
        assert all(call.held_out for call in second.calls)
        assert {call.name for call in (*first.calls, *second.calls)} == {call.name for call in plan.calls}
        with pytest.raises(GraderFault, match="must not hold the sequences that are held out"):
            carried(plan)


@cache
def honest() -> Evidence:
    """Return what is seen where the reference itself is trained on the copy task, and what it is held against."""
    exercise, plan = lab(COPYING), sheet(COPYING).plan
    seen = observe_all(plan, exercise.reference())
    return Evidence(plan, seen, Observations(), Observations(), known=exercise.attempts)


def claimed(call: Call, slot: TensorSpec, tensor: Tensor) -> Evidence:
    """Return the same, where the submission tells `tensor` in one slot."""
    seen = honest().observed
    slots = {**seen.calls[call.name].slots, **told((slot,), tensor)}
    calls = {**seen.calls, call.name: replace(seen.calls[call.name], slots=slots)}
    return replace(honest(), observed=replace(seen, calls=calls), reruns={})


def verdicts(evidence: Evidence) -> tuple[Verdict, Verdict]:
    """Return the verdicts on the loss and on the answers."""
    loss, accuracy = (checks()[check].judge(line(COPYING, check), evidence).verdict for check in ("loss", "accuracy"))
    return loss, accuracy


def test_an_honest_training_is_repeated_outside_and_counts() -> None:
    """The reference's own claims are borne out by its weights."""
    assert verdicts(honest()) == (Verdict.PASSED, Verdict.PASSED)


@pytest.mark.parametrize("step", [0, 9])
def test_losses_that_no_attention_has_do_not_count(step: int) -> None:
    """One of the first losses is off by a thousandth, and nothing that was trained counts."""
    call = training_calls(line(COPYING, "loss").case)[0]
    seen = honest().observed.calls[call.name].slots[call.outputs[0].key].tensor
    assert seen is not None
    evidence = claimed(call, call.outputs[0], torch.where(torch.arange(10) == step, seen * 1.001, seen))

    assert verdicts(evidence) == (Verdict.FAILED, Verdict.FAILED)
    said = checks()["loss"].judge(line(COPYING, "loss"), evidence).message
    assert f"the loss in step {step + 1} is" in said


def test_weights_that_were_not_trained_do_not_count() -> None:
    """Losses and answers are told as they should be, but the weights that come back are those of the beginning."""
    case = line(COPYING, "loss").case
    call = weights_call(case)
    begun = told(call.outputs, *(weight.matrix.float() for weight in case.weights))
    calls = {**honest().observed.calls, call.name: CallSeen(call.name, begun)}
    evidence = replace(honest(), observed=replace(honest().observed, calls=calls), reruns={})

    assert verdicts(evidence) == (Verdict.FAILED, Verdict.FAILED)


def test_answers_must_be_those_of_the_weights_and_of_the_submission() -> None:
    """Whoever tells wrong answers is believed, whatever the weights would answer."""
    call = answering_call(line(COPYING, "accuracy").case)
    wrong = torch.full(call.outputs[0].shape, 3)

    assert verdicts(claimed(call, call.outputs[0], wrong)) == (Verdict.PASSED, Verdict.FAILED)


@pytest.mark.parametrize(("mistake", "counts"), [("no_scaling", True), ("mask_ignored", False)])
def test_a_known_mistake_is_repeated_outside_as_well(mistake: str, counts: bool) -> None:
    """Without the root everything is learned, and that counts; without the mask the answers are wrong."""
    exercise, plan = lab(COPYING), sheet(COPYING).plan
    wrong = next(one for one in exercise.mistakes if one.name == mistake)
    evidence = replace(honest(), observed=observe_all(plan, exercise.reference(wrong)), reruns={})

    assert verdicts(evidence) == (Verdict.PASSED, Verdict.PASSED if counts else Verdict.FAILED)


# Of the lab's own mistakes those whose training comes to its end, and has learned too little then.
_LEARN_LITTLE = ("mask_ignored", "mean_of_the_values")


@pytest.mark.parametrize("mistake", _LEARN_LITTLE)
def test_a_mistake_learns_no_more_by_training_on_all_that_the_box_holds(mistake: str) -> None:
    """Its code is trained three times as long as it should; it tells low losses and the right answers."""
    exercise, plan, case = lab(COPYING), sheet(COPYING).plan, line(COPYING, "loss").case
    wrong = exercise.reference(next(one for one in exercise.mistakes if one.name == mistake))
    calls, asked, left = training_calls(case), answering_call(case), weights_call(case)
    again = [replace(call, name=call_name(case.name, f"again {i}")) for i, call in enumerate(calls * 2)]
    once = plan.only(frozenset(call.name for call in plan.calls if plan.contract(call.part).kind.trains))
    fair, forged = (observe_all(replace(once, calls=one), wrong) for one in (once.calls, (*calls, *again, left)))
    low = {
        call.name: replace(
            forged.calls[call.name],
            slots=forged.calls[call.name].slots | told(call.outputs[:1], torch.full(call.outputs[0].shape, 0.01)),
        )
        for call in calls[1:]
    }
    said = CallSeen(asked.name, told(asked.outputs, tensor(case, "held_target"), torch.zeros(asked.outputs[1].shape)))
    claims = Observations(calls={**forged.calls, **low, asked.name: said})
    cases = observe_all(plan.untrained(), wrong).calls

    pairs = (
        verdicts(replace(honest(), observed=replace(seen, calls={**seen.calls, **cases}), reruns={}))
        for seen in (fair, claims)
    )
    judged_fairly, forgery = pairs

    assert Verdict.FAILED in judged_fairly
    assert forgery == judged_fairly


def test_what_is_told_and_not_borne_out_is_worth_a_look() -> None:
    """Right answers beside weights that were never trained are a contradiction; what the reference tells is none."""
    case, accuracy = line(COPYING, "loss").case, line(COPYING, "accuracy")
    call = weights_call(case)
    begun = told(call.outputs, *(weight.matrix.float() for weight in case.weights))
    calls = {**honest().observed.calls, call.name: CallSeen(call.name, begun)}
    forged = replace(honest(), observed=replace(honest().observed, calls=calls), reruns={})

    found = checks()["accuracy"].judge(accuracy, forged)

    assert "repeated outside the sandbox it comes to" in found.contradiction
    assert checks()["accuracy"].judge(accuracy, honest()).contradiction == ""


def test_padding_does_not_count() -> None:
    """Whatever is said where nothing is to be said is neither right nor wrong."""
    target = tensor(line(COPYING, "accuracy").case, "held_target")
    chatty = torch.where(target == PAD, 5, target)

    assert judge(COPYING, "accuracy", said=chatty).verdict is Verdict.PASSED


def test_a_share_of_the_words_must_be_right() -> None:
    """A tenth of the words wrong is too much, and told as a share."""
    target = tensor(line(COPYING, "accuracy").case, "held_target")
    wrong = torch.where(torch.arange(target.numel()).view_as(target) % 10 == 0, target + 1, target)

    found = judge(COPYING, "accuracy", said=wrong)

    assert found.verdict is Verdict.FAILED
    assert "must predict 95% of the unseen tokens correctly" in found.message


def test_sentences_longer_than_any_in_training_do_not_count() -> None:
    """Nonsense in long sentences leaves the BLEU as it is; in short ones it does not."""
    item = line(TRANSLATING, "bleu")
    target = tensor(item.case, "held_target")
    lengths = (target != PAD).sum(dim=1, keepdim=True)
    longest = (tensor(item.case, "source") != PAD).sum(dim=-1).max()

    assert judge(TRANSLATING, "bleu", said=torch.where(lengths > longest, 3, target)).verdict is Verdict.PASSED
    assert judge(TRANSLATING, "bleu", said=torch.where(lengths <= longest, 3, target)).verdict is Verdict.FAILED


def test_the_order_of_the_words_counts() -> None:
    """All the right words, moved on by one place, are no translation."""
    target = tensor(line(TRANSLATING, "bleu").case, "held_target")
    lengths = (target != PAD).sum(dim=1, keepdim=True)
    moved = target.gather(1, (torch.arange(target.shape[1]) + 1) % lengths)

    found = judge(TRANSLATING, "bleu", said=moved)

    assert found.verdict is Verdict.FAILED
    assert "must reach a BLEU of 80" in found.message


def test_the_loss_is_the_mean_of_the_last_steps() -> None:
    """One batch that happens to be hard does no harm; an end that is too high does."""
    curve = torch.full((100,), 0.05)
    curve[-1] = 0.9
    high = curve.clone()
    high[-10:] = 0.2

    assert judge(COPYING, "loss", curve=curve).verdict is Verdict.PASSED
    assert "it went from 0.05 to 0.2" in judge(COPYING, "loss", curve=high).message


def test_a_loss_that_is_no_number_is_told() -> None:
    """NaN anywhere fails, even if the end looks fine."""
    curve = torch.full((100,), 0.01)
    curve[40] = torch.nan

    assert "NaN or infinite" in judge(COPYING, "loss", curve=curve).message


def test_a_run_that_ended_during_the_training_is_not_judged() -> None:
    """A time limit that strikes on the way skips what was not reached, and says so."""
    found = judge(COPYING, "accuracy", done=4)

    assert (found.verdict, found.message) == (Verdict.SKIPPED, "because the run ended before the training did")


def test_a_model_that_sees_what_it_must_guess_learns_it_and_knows_nothing() -> None:
    """Without its masks attention trains to a low loss all the same; held-out sequences show that it peeped."""
    source = lab(COPYING).reference_path.read_text(encoding="utf-8")
    peeping = source.replace('scores if mask is None else scores.masked_fill(~mask, float("-inf"))', "scores")
    assert peeping != source

    report = grade(lab(COPYING), peeping, seed=3, box=InlineBox())
    verdicts = {check.name.partition(": ")[2]: check.status for check in report.checks if "training" in check.name}

    assert verdicts["training loss"] is Verdict.PASSED
    assert verdicts["accuracy on unseen sequences"] is Verdict.FAILED
    assert [diagnosis.mistake for diagnosis in report.diagnosis] == ["mask_ignored"]


def test_what_was_trained_is_drawn() -> None:
    """Three losses, three qualities against the length, and where each of the three looks."""
    exercise = lab(TRANSLATING)
    variants = [exercise.spec.entry.name, "AdditiveAttention", "MultiplicativeAttention"]

    report = grade(exercise, exercise.reference_path.read_text(encoding="utf-8"), seed=3, box=InlineBox())
    loss, quality = report.figures.curves
    looks = report.figures.heatmaps[0]

    assert report.score == 100
    assert [series.name for series in loss.series] == [series.name for series in quality.series] == variants
    assert [len(series.ys) for series in loss.series] == [200, 200, 200]
    assert [series.xs for series in quality.series] == [tuple(float(words) for words in range(3, 11))] * 3
    assert "training sentences had at most 8 words" in quality.note
    assert [pane.name for pane in looks.all_panes] == [*variants, "where each word comes from"]
    for pane in looks.all_panes[:-1]:
        agree = [row.index(max(row)) for row in pane.values]
        assert agree == [row.index(max(row)) for row in looks.all_panes[-1].values]


def test_who_prints_in_every_step_is_heard_in_the_first(capsys: pytest.CaptureFixture[str]) -> None:
    """Three hundred printed tensors would fill the cap of what may be printed, and end the run."""
    model = Learner(Loud())
    batches = torch.full((3, 2, 5), 4)

    model.learn(batches, batches, learning_rate=0.1)
    model.answer(batches[0])

    assert capsys.readouterr().out == "looking at 4\n"
