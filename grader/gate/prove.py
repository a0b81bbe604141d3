"""An exercise on trial, and the proof: reference, starter, trivial answers, every known mistake, every example."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import torch
from torch import Tensor

from grader.box.inline import InlineBox
from grader.box.observations import CallSeen, Observations
from grader.box.plan import Plan
from grader.box.run import Box, Limits
from grader.checks.evidence import Evidence
from grader.checks.finding import Verdict
from grader.errors import AuthorError
from grader.examples import FOLDER, Example, read_examples
from grader.exercise.catalog import Exercise
from grader.exercise.mistakes import Mistake
from grader.exercise.spec import Dimension
from grader.gate.answers import TRIVIAL, Answer, pretend, unseen
from grader.gate.contract import draws, sizes, texts, unvaried
from grader.judge import verdicts
from grader.judge.attempt import FAULT, attempt, tell
from grader.judge.explain.diagnosis import MistakeRuns, causes, diagnose, explanations
from grader.judge.grade import grade, observe_reference
from grader.judge.report import Points, Report, Status
from grader.judge.sheet import Sheet, draw_up
from grader.judge.source import read_source
from grader.judge.verdicts import judge

_NOTHING = 30  # points, which an answer that computes nothing must not reach
_ROUNDS = 5  # grades of the reference that are timed; more would make slow exercises slower
_SLIPS = {"NameError", "UnboundLocalError", "ImportError", "ModuleNotFoundError"}  # no student's mistake ends like this
_PATIENCE_SECONDS = 1.0  # a grade that takes longer is timed once


@dataclass(frozen=True, slots=True)
class Ratio:
    """How many of how many."""

    good: int = 0
    all: int = 0

    @classmethod
    def of(cls, flags: list[bool]) -> Ratio:
        """Count the flags that are set."""
        return cls(sum(flags), len(flags))

    def __add__(self, other: Ratio) -> Ratio:
        return Ratio(self.good + other.good, self.all + other.all)

    def __str__(self) -> str:
        return f"{self.good}/{self.all}"


@dataclass(frozen=True, slots=True)
class GateResult:
    """What the gate found: complaints in plain sentences, and the figures behind them.

    Attributes:
        caught: known mistakes that lose in the dimension where they must.
        named: known mistakes that are diagnosed as themselves, alone and for certain.
        accepted: right examples with full marks.
        refused: wrong examples that lose where they must.
        trivial: answers made up from nothing, such as zeros, that do not get through.
        seconds: the median of a few grades of the reference.
        dimensions: what points are given for, by name.
    """

    exercise: str
    complaints: tuple[str, ...]
    caught: Ratio = Ratio()
    named: Ratio = Ratio()
    accepted: Ratio = Ratio()
    refused: Ratio = Ratio()
    trivial: Ratio = Ratio()
    seconds: float = 0.0
    dimensions: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether there is nothing to complain about."""
        return not self.complaints


# ---- an exercise on trial


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """An exercise on trial, with all that the gate asks more than once.

    Attributes:
        truth: the reference's observations, held against themselves.
        known: by mistake, what it gives on the whole plan; empty until `with_mistakes`.
        graded: the reports on examples so far, by path.
    """

    exercise: Exercise
    seed: int
    box: Box
    sheet: Sheet
    truth: Evidence
    examples: Sequence[Example]
    known: Mapping[str, Observations] = field(default_factory=dict)
    graded: dict[Path, Report] = field(default_factory=dict)

    def with_mistakes(self) -> Trial:
        """Return this trial with every known mistake observed; a diagnosis then compares, and runs none of them.

        One object stands for all calls that gave the same, bit for bit: most mistakes change nothing in most calls, so
        that most comparisons of two are one that was made before.
        """
        plan, mistakes = self.sheet.plan.untrained(), self.exercise.mistakes
        alike = {_content(seen): seen for seen in self.truth.expected.calls.values()}
        runs = MistakeRuns(self.exercise, mistakes, plan)
        known: dict[str, Observations] = {}
        for one in mistakes:
            observed = runs.observe(one)
            calls = {name: alike.setdefault(_content(seen), seen) for name, seen in observed.calls.items()}
            known[one.name] = replace(observed, calls=calls)
        return replace(self, known=known)

    def grade(self, source: str | bytes) -> Report:
        """Return the report on `source`, as a student would get it."""
        return grade(self.exercise, source, seed=self.seed, box=self.box)

    def judge(self, example: Example) -> Report:
        """Return the report on `example` without its pictures, and diagnosed only where its header names a mistake.

        All examples share the reference's observations and what searches find, and the search for mistakes that nobody
        asks for is left out: that is most of what a report costs. What must lose elsewhere than in learning trains no
        model. An example is graded once, whoever asks.
        """
        if example.path not in self.graded:
            self.graded[example.path] = self._judge(example)
        return self.graded[example.path]

    def _judge(self, example: Example) -> Report:
        limits = Limits(**self.exercise.spec.limits.model_dump())
        source = read_source(example.path.read_bytes(), limit_bytes=limits.source_bytes)
        sheet, plan = self.sheet, self.sheet.plan
        if example.loses not in (None, Dimension.LEARNING):
            items = tuple(item for item in sheet.items if not plan.contract(item.case.part).kind.trains)
            if len(items) < len(sheet.items):  # the truth holds nothing of what is trained anyway
                sheet = replace(sheet, items=items, plan=plan.untrained())

        def truth(asked: Plan) -> tuple[Observations, Observations]:
            if asked is sheet.plan:
                return self.truth.expected, self.truth.rounded
            return observe_reference(self.exercise, asked)  # the same plan in another dtype

        outcome = attempt(sheet, source, partial(self.box.run, limits=limits), truth)
        report = tell(Report(self.exercise.id, Status.REJECTED, 0.0, self.seed, "cpu", 0.0), outcome)
        if not example.diagnosis:
            return replace(report, diagnosis=())
        likely = causes(self.exercise, outcome, report.lost, self.known)
        return replace(report, diagnosis=likely)


def open_trial(exercise: Exercise, seed: int, box: Box) -> Trial:
    """Draw up the sheet, and run the reference.

    Raises:
        AuthorError: the exercise is written wrongly.
    """
    sheet = draw_up(exercise, seed)
    expected, rounded = observe_reference(exercise, sheet.plan)
    truth = Evidence(sheet.plan, expected, expected, rounded, sheet.free)
    return Trial(exercise, seed, box, sheet, truth, read_examples(exercise.folder))


def _content(seen: CallSeen) -> Hashable:
    slots = ((key, s.presence, s.shape, s.dtype, s.what, _bytes(s.tensor)) for key, s in sorted(seen.slots.items()))
    return seen.name, seen.raised, seen.modified, seen.largest, seen.trace, *slots


def _bytes(tensor: Tensor | None) -> bytes | None:
    return None if tensor is None else tensor.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()


# ---- the proof


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
    brief: bool = False,
) -> GateResult:
    """Put `exercise` to the proof with the tensors of `seed`; examples are run in `box`.

    Whoever grades the examples anyway hands over the trial that does so as `examples`. The reference is graded once,
    and `rounds` times more for its time. A `brief` proof leaves out mistakes and examples, most of what a proof costs.
    """
    try:
        trial = open_trial(exercise, seed, box or InlineBox())
        return _outcome(trial, examples, rounds, brief=brief)
    except AuthorError as error:
        return GateResult(exercise.id, (str(error),))


def _outcome(trial: Trial, graded: Trial | None, rounds: int, *, brief: bool) -> GateResult:
    exercise = trial.exercise
    reference, seconds = _timed(lambda: trial.grade(exercise.reference_path.read_bytes()), rounds)
    written = (*texts(exercise), *sizes(exercise), *unvaried(exercise.spec))
    if broken := tuple(_reference(reference, trial.truth)):  # whatever is held against it would mean nothing
        return GateResult(exercise.id, (*written, *broken), seconds=seconds)
    trial = trial if brief else trial.with_mistakes()
    graded = graded or trial
    first = (*written, *draws(exercise, trial.sheet.plan), *_unseen(reference), *unseen(trial.sheet, trial.truth))
    starter = tuple(_starter(exercise, trial.grade(exercise.starter)))
    trivial = [_trivial(trial, name, answer) for name, answer in TRIVIAL.items()]
    # Where nobody has gone through what is offered, some of it may mean nothing; it does no harm there.
    known = [wrong for wrong in exercise.mistakes if exercise.declined is not None or not wrong.offered]
    mistakes = [_mistake(trial, wrong) for wrong in known if not brief]
    looked_at = () if brief else trial.examples
    examples = [(example.loses is None, _example(trial, example, graded.judge(example))) for example in looked_at]
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
    complaints = tuple(_too_good(name, verdicts.score(lines), verdicts.by_dimension(lines).get(Dimension.NUMERICS)))
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
    lost = verdicts.lost(judge(trial.sheet.items, own))
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
