"""The proof: the reference, the starter, trivial answers, every known mistake, every example."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace

from grader.box.inline import InlineBox
from grader.box.run import Box
from grader.checks.evidence import Evidence
from grader.checks.finding import Verdict
from grader.errors import AuthorError
from grader.examples import FOLDER, Example
from grader.exercise.catalog import Exercise
from grader.exercise.mistakes import Mistake
from grader.exercise.spec import Dimension
from grader.gate.coincidences import unvaried
from grader.gate.outcome import GateResult, Ratio
from grader.gate.recognised import unseen
from grader.gate.texts import draws, sizes, texts
from grader.gate.trial import Trial, open_trial
from grader.gate.trivial import TRIVIAL, Answer, pretend
from grader.judge import scoring
from grader.judge.explain.diagnosis import diagnose, explanations
from grader.judge.optional_parts import FAULT
from grader.judge.report import Points, Report, Status
from grader.judge.verdicts import judge

_NOTHING = 30  # points, which an answer that computes nothing must not reach
_ROUNDS = 5  # grades of the reference that are timed; more would make slow exercises slower
_SLIPS = {"NameError", "UnboundLocalError", "ImportError", "ModuleNotFoundError"}  # no student's mistake ends like this
_PATIENCE_SECONDS = 1.0  # a grade that takes longer is timed once


@dataclass(frozen=True, slots=True)
class _Examined:
    """What became of one thing that was put to the proof: how it did, and what there is to complain about.

    `named` is about known mistakes only: diagnosed as itself, alone and for certain.
    """

    complaints: tuple[str, ...]
    good: bool
    named: bool = False


def check_exercise(
    exercise: Exercise,
    *,
    seed: int = 0,
    box: Box | None = None,
    examples: Trial | None = None,
    rounds: int = _ROUNDS,
) -> GateResult:
    """Put `exercise` to the proof with the tensors of `seed`; examples are run in `box`.

    Whoever grades the examples anyway hands over the trial that does so as `examples`. The reference is graded once,
    and `rounds` times more for its time.
    """
    try:
        trial = open_trial(exercise, seed, box or InlineBox())
        return _outcome(trial, examples, rounds)
    except AuthorError as error:
        return GateResult(exercise.id, (str(error),))


def _outcome(trial: Trial, graded: Trial | None, rounds: int) -> GateResult:
    exercise = trial.exercise
    reference, seconds = _timed(lambda: trial.grade(exercise.reference_path.read_bytes()), rounds)
    written = (*texts(exercise), *sizes(exercise), *unvaried(exercise.spec))
    if broken := tuple(_reference(reference, trial.truth)):  # whatever is held against it would mean nothing
        return GateResult(exercise.id, (*written, *broken), seconds=seconds)
    trial = trial.with_mistakes()
    graded = graded or trial
    first = (*written, *draws(exercise, trial.sheet.plan), *_unseen(reference), *unseen(trial.sheet, trial.truth))
    starter = tuple(_starter(exercise, trial.grade(exercise.starter)))
    trivial = [_trivial(trial, name, answer) for name, answer in TRIVIAL.items()]
    # Where nobody has gone through what is offered, some of it may mean nothing; it does no harm there.
    known = [wrong for wrong in exercise.mistakes if exercise.declined is not None or not wrong.offered]
    mistakes = [_mistake(trial, wrong) for wrong in known]
    examples = [(example.loses is None, _example(trial, example, graded.judge(example))) for example in trial.examples]
    proofs = (*trivial, *mistakes, *(proof for _, proof in examples))
    return GateResult(
        exercise=exercise.id,
        complaints=(*first, *starter, *_kinds(trial), *(text for proof in proofs for text in proof.complaints)),
        caught=Ratio.of([proof.good for proof in mistakes]),
        named=Ratio.of([proof.named for proof in mistakes]),
        accepted=Ratio.of([proof.good for right, proof in examples if right]),
        refused=Ratio.of([proof.good for right, proof in examples if not right]),
        trivial=Ratio.of([proof.good for proof in trivial]),
        seconds=seconds,
        dimensions=tuple(name.value for name in reference.dimensions),
    )


def _timed(grade: Callable[[], Report], rounds: int) -> tuple[Report, float]:
    """Return a report, and the median of the seconds that it takes to get one."""
    report = grade()
    rounds = rounds if report.seconds < _PATIENCE_SECONDS else 0
    return report, statistics.median([grade().seconds for _ in range(rounds)] or [report.seconds])


def _reference(report: Report, evidence: Evidence) -> Iterator[str]:
    for check in report.checks:
        if check.status is not Verdict.PASSED:
            yield f"the reference does not pass “{check.name}”: {check.message}"
    if report.status is not Status.GRADED or (report.score < 100 and not report.checks):
        yield f"the reference earns {report.score:g} points: {report.reason or '; '.join(report.advice)}"
    for call in evidence.expected.calls.values():
        for key, seen in call.slots.items():
            if seen.tensor is not None and bool(seen.tensor.isnan().any()) and call.name not in evidence.free:
                yield f"the reference gives NaN in `{key}` of `{call.name}`"


def _unseen(report: Report) -> Iterator[str]:
    """Yield what costs no points, and failed on the reference by a fault of its author's, or of ours."""
    for shown in report.properties:
        if shown.holds is None:
            yield f"“{shown.title}” cannot be looked at in the reference: its check raises, or is not reached"
    for text in report.advice:
        if FAULT in text:
            yield f"the report on the reference says: {text}"


def _starter(exercise: Exercise, report: Report) -> Iterator[str]:
    if report.score:
        yield f"the starter earns {report.score:g} points; it must earn none"
    if report.status is Status.REJECTED:
        yield f"the starter is rejected ({report.reason}); it must load and define `{exercise.spec.entry.name}`"


def _trivial(trial: Trial, name: str, answer: Answer) -> _Examined:
    lines = judge(trial.sheet.items, replace(trial.truth, observed=pretend(trial.sheet.plan, answer)))
    complaints = tuple(_too_good(name, scoring.score(lines), scoring.by_dimension(lines).get(Dimension.NUMERICS)))
    return _Examined(complaints, good=not complaints)


def _too_good(name: str, score: float, numerics: Points | None) -> Iterator[str]:
    if score == 100:
        yield f"{name} gets full marks; add a case that it fails"
    elif score >= _NOTHING:
        easy = "say `easy = true` in the cases in which it is right"
        yield f"{name} earns {score:g} points; what is made of nothing must stay under {_NOTHING}: {easy}"
    elif numerics and numerics.earned >= numerics.possible / 2:
        yield f"{name} earns {numerics.earned:g} of {numerics.possible:g} in numerics; it must earn less than half"


def _mistake(trial: Trial, wrong: Mistake) -> _Examined:
    observed = trial.known[wrong.name]
    if observed.loading is not None:
        return _Examined((observed.loading.message,), good=False)
    own = replace(trial.truth, observed=observed)
    uncaught = tuple(_uncaught(trial, wrong, own))
    unnamed = tuple(_unnamed(trial, wrong, own))
    return _Examined((*_unsound(trial, wrong), *uncaught, *unnamed), good=not uncaught, named=not unnamed)


def _unsound(trial: Trial, wrong: Mistake) -> Iterator[str]:
    """Complain of what raises because of how the mistake is written, and so looks as if it were caught."""
    if odd := trial.exercise.patchable().misfit(wrong):
        yield f"mistake `{wrong.name}` takes {odd}; give both the same arguments"
    raised = (call.raised for call in trial.known[wrong.name].calls.values() if call.raised is not None)
    if slip := next((one for one in raised if one.type in _SLIPS), None):
        yield f"mistake `{wrong.name}` fails by itself, with {slip.type}: {slip.message}"


def _uncaught(trial: Trial, wrong: Mistake, own: Evidence) -> Iterator[str]:
    lost = scoring.lost(judge(trial.sheet.items, own))
    if wrong.dimension not in lost:
        where = ", ".join(lost) or "nothing at all"
        yield f"mistake `{wrong.name}` loses nothing in {wrong.dimension}; it loses in {where}"


def _unnamed(trial: Trial, wrong: Mistake, own: Evidence) -> Iterator[str]:
    told = diagnose(trial.exercise, own, trial.known)
    if [(one.mistake, one.certain) for one in told] == [(wrong.name, True)]:
        return
    named = explanations(trial.exercise, own, trial.known)
    if named != ((wrong,),):
        said = " or ".join(_together(tuple(one.name for one in found)) for found in named) or "nothing"
        way = " or decline it in `exercises/declined.toml`" if wrong.offered else ""
        yield f"mistake `{wrong.name}` is diagnosed as {said}; add a case that tells them apart{way}"
    else:
        yield f"mistake `{wrong.name}` is found, but not for certain"


def _together(names: tuple[str, ...]) -> str:
    return " and ".join(f"`{name}`" for name in names)


def _kinds(trial: Trial) -> Iterator[str]:
    folder = f"`exercises/{trial.exercise.id}/{FOLDER}/`"
    if not any(example.loses is None for example in trial.examples):
        yield f"{folder} has no example that must earn full marks; write one that differs from the reference"
    if all(example.loses is None for example in trial.examples):
        yield f"{folder} has no example that must lose points; write one"


def _example(trial: Trial, example: Example, report: Report) -> _Examined:
    misjudged = tuple(_misjudged(example, report))
    return _Examined((*misjudged, *_misnamed(example, report, trial.known)), good=not misjudged)


def _misjudged(example: Example, report: Report) -> Iterator[str]:
    name = example.path.name
    if example.loses is None:
        if report.score < 100:
            lines = [f"{c.name}: {c.message}" for c in report.checks if c.status is Verdict.FAILED]
            yield f"`{name}` is right but earns {report.score:g}: {report.reason or '; '.join(lines)}"
        return
    if report.score == 100 or (example.loses in report.dimensions and example.loses not in report.lost):
        yield f"`{name}` must lose in {example.loses} and does not; it earns {report.score:g}"


def _misnamed(example: Example, report: Report, known: Collection[str]) -> Iterator[str]:
    named = tuple(diagnosis.mistake for diagnosis in report.diagnosis)
    for odd in sorted(set(example.diagnosis) - set(known)):
        yield f"`{example.path.name}` names `{odd}` as its diagnosis, which is no known mistake"
    if example.diagnosis and sorted(named) != sorted(example.diagnosis):
        said = _together(named) or "nothing"
        yield f"`{example.path.name}` must be diagnosed as {_together(example.diagnosis)}; the report says {said}"
