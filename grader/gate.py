"""The gate: an author's proof that an exercise is right, told in plain sentences where it is not.

An exercise passes when its reference earns full marks and its starter none, trivial answers do not get through,
every known mistake costs points where it says and is diagnosed as itself, and every submission kept as an example
gets the verdict written at its top. `docs/authoring.md` says what to do about each sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from grader.box.inline import InlineBox, observe_all
from grader.box.observations import BuildSeen, CallSeen, Observations, Presence, Seen
from grader.box.plan import DTYPES, Call, Plan
from grader.box.run import Box
from grader.box.seeing import see
from grader.checks.evidence import Evidence
from grader.checks.finding import Verdict
from grader.errors import AuthorError
from grader.examples import Example, read_examples
from grader.exercise.catalog import Exercise
from grader.exercise.mistakes import Mistake
from grader.exercise.spec import Dimension
from grader.judge import scoring
from grader.judge.diagnosis import diagnose
from grader.judge.grade import grade, observe_reference
from grader.judge.report import Report, Status
from grader.judge.sheet import Sheet, draw_up
from grader.judge.verdicts import judge

MISTAKES_AT_LEAST = 8

Answer = Callable[[Call, tuple[int, ...]], Tensor]  # an output of a given shape, made up from a call's arguments


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the gate found: complaints in plain sentences, and the figures behind them."""

    exercise: str
    complaints: tuple[str, ...]
    mistakes: int
    right: int
    wrong: int
    seconds: float  # of one grade of the reference

    @property
    def passed(self) -> bool:
        """Whether there is nothing to complain about."""
        return not self.complaints


@dataclass(frozen=True, slots=True, eq=False)
class _Trial:
    """An exercise on trial, with all that the gate asks more than once.

    Attributes:
        truth: the reference's observations, held against themselves.
        known: by mistake, what it gives on the whole plan.
    """

    exercise: Exercise
    seed: int
    box: Box
    sheet: Sheet
    truth: Evidence
    known: Mapping[str, Observations]
    examples: Sequence[Example]

    def grade(self, source: str | bytes) -> Report:
        """Return the report on `source`, as a student would get it."""
        return grade(self.exercise, source, seed=self.seed, box=self.box)


def check_exercise(exercise: Exercise, *, seed: int = 0, box: Box | None = None) -> Outcome:
    """Put `exercise` to the proof with the tensors of `seed`; examples are run in `box`."""
    try:
        trial = _open(exercise, seed, box or InlineBox())
        reference = trial.grade(exercise.reference_path.read_bytes())
        complaints = tuple(_complaints(trial, reference))
    except AuthorError as error:
        return Outcome(exercise.id, (str(error),), mistakes=0, right=0, wrong=0, seconds=0.0)
    right = sum(example.loses is None for example in trial.examples)
    return Outcome(
        exercise=exercise.id,
        complaints=complaints,
        mistakes=len(exercise.mistakes),
        right=right,
        wrong=len(trial.examples) - right,
        seconds=reference.seconds,
    )


def _open(exercise: Exercise, seed: int, box: Box) -> _Trial:
    sheet = draw_up(exercise, seed)
    expected, rounded = observe_reference(exercise, sheet.plan)
    return _Trial(
        exercise=exercise,
        seed=seed,
        box=box,
        sheet=sheet,
        truth=Evidence(sheet.plan, expected, expected, rounded, sheet.free),
        known={wrong.name: observe_all(sheet.plan, exercise.reference(wrong)) for wrong in exercise.mistakes},
        examples=read_examples(exercise.id, exercise.folder.parents[1] / "tests" / "submissions"),
    )


def _complaints(trial: _Trial, reference: Report) -> Iterator[str]:
    exercise = trial.exercise
    yield from _texts(exercise)
    yield from _sizes(exercise)
    yield from _reference(reference, trial.truth)
    yield from _starter(exercise, trial.grade(exercise.starter))
    yield from _trivial(trial)
    yield from _kinds(trial)
    for wrong in exercise.mistakes:
        yield from _mistake(trial, wrong)
    for example in trial.examples:
        yield from _example(trial, example)


def _texts(exercise: Exercise) -> Iterator[str]:
    if (known := len(exercise.mistakes)) < MISTAKES_AT_LEAST:
        yield f"`mistakes.py` holds {known} of at least {MISTAKES_AT_LEAST} known mistakes; write the others"
    for wrong in exercise.mistakes:
        if not wrong.title.endswith(".") or len(wrong.title) > 80:
            yield f"mistake `{wrong.name}`: the docstring's first line is its title, one sentence of up to 80 letters"
        if not wrong.message:
            yield f"mistake `{wrong.name}` says nothing below its title; tell the student why, and where to look"
    for heading in ("## What to build", "## What you write", "## What is checked"):
        if heading not in exercise.statement:
            yield f"`statement.md` has no section `{heading}`"
    if not exercise.hints:
        yield "there are no hints; write at least one"


def _sizes(exercise: Exercise) -> Iterator[str]:
    for case in exercise.spec.cases:
        sizes = [size for size in case.sizes.values() if isinstance(size, int) and size > 1]
        if len(set(sizes)) < len(sizes) and not case.alike:
            said = f"case `{case.name}` has two axes of the same size ({case.sizes})"
            yield f"{said}; a swapped axis must not fit, unless the case is about that (`alike = true`)"


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


def _starter(exercise: Exercise, report: Report) -> Iterator[str]:
    if report.score:
        yield f"the starter earns {report.score:g} points; it must earn none"
    if report.status is Status.REJECTED:
        yield f"the starter is rejected ({report.reason}); it must load and define `{exercise.spec.entry.name}`"


def _trivial(trial: _Trial) -> Iterator[str]:
    for name, answer in (("zeros", _zeros), ("the mean of an input", _mean), ("a copy of an input", _copy)):
        lines = judge(trial.sheet.items, replace(trial.truth, observed=_pretend(trial.sheet.plan, answer)))
        numerics = scoring.by_dimension(lines).get(Dimension.NUMERICS)
        if scoring.score(lines) == 100:
            yield f"{name} gets full marks; add a case that it fails"
        elif numerics and numerics.earned >= numerics.possible / 2:
            yield f"{name} earns {numerics.earned:g} of {numerics.possible:g} in numerics; it must earn less than half"


def _mistake(trial: _Trial, wrong: Mistake) -> Iterator[str]:
    observed = trial.known[wrong.name]
    if observed.loading is not None:
        yield observed.loading.message
        return
    own = replace(trial.truth, observed=observed)
    lines = judge(trial.sheet.items, own)
    points = scoring.by_dimension(lines).get(wrong.dimension)
    if points is None or points.earned >= points.possible:
        lost = [name for name, p in scoring.by_dimension(lines).items() if p.earned < p.possible]
        where = ", ".join(lost) or "nothing at all"
        yield f"mistake `{wrong.name}` loses nothing in {wrong.dimension}; it loses in {where}"
    named = diagnose(trial.exercise, own, trial.known)
    if [d.mistake for d in named] != [wrong.name]:
        said = " or ".join(f"`{d.mistake}`" for d in named) or "nothing"
        yield f"mistake `{wrong.name}` is diagnosed as {said}; add a case that tells them apart"
    elif not named[0].certain:
        yield f"mistake `{wrong.name}` is found, but not for certain"


def _kinds(trial: _Trial) -> Iterator[str]:
    folder = f"`tests/submissions/{trial.exercise.id}/`"
    if not any(example.loses is None for example in trial.examples):
        yield f"{folder} has no example that must earn full marks; write one that differs from the reference"
    if all(example.loses is None for example in trial.examples):
        yield f"{folder} has no example that must lose points; write one"


def _example(trial: _Trial, example: Example) -> Iterator[str]:
    report = trial.grade(example.path.read_bytes())
    name = example.path.name
    if example.loses is None:
        if report.score < 100:
            lines = [f"{c.name}: {c.message}" for c in report.checks if c.status is Verdict.FAILED]
            yield f"`{name}` is right but earns {report.score:g}: {report.reason or '; '.join(lines)}"
        return
    points = report.dimensions.get(example.loses)
    if report.score == 100 or (points is not None and points.earned >= points.possible):
        yield f"`{name}` must lose in {example.loses} and does not; it earns {report.score:g}"
    if example.diagnosis and [d.mistake for d in report.diagnosis] != [example.diagnosis]:
        said = " or ".join(f"`{d.mistake}`" for d in report.diagnosis) or "nothing"
        yield f"`{name}` must be diagnosed as `{example.diagnosis}`; the report says {said}"


def _pretend(plan: Plan, answer: Answer) -> Observations:
    """Return what would be seen of a program that gives `answer(call, shape)` and has no gradients."""
    calls = {}
    for call in plan.calls:
        slots = {slot.key: see(answer(call, slot.shape).to(DTYPES[call.dtype]), slot) for slot in call.outputs}
        slots |= {slot.key: Seen(Presence.NONE) for slot in plan.slots(call)[len(call.outputs) :]}
        calls[call.name] = CallSeen(call.name, slots)
    return Observations(calls, {build.name: BuildSeen(build.name) for build in plan.builds})


def _tensors(call: Call) -> list[Tensor]:
    return [v for v in call.arguments.values() if isinstance(v, Tensor) and v.is_floating_point()]


def _zeros(call: Call, shape: tuple[int, ...]) -> Tensor:
    return torch.zeros(shape, dtype=torch.float64)


def _mean(call: Call, shape: tuple[int, ...]) -> Tensor:
    for value in reversed(_tensors(call)):
        mean = value.mean(dim=-2, keepdim=True) if value.dim() > 1 else value.mean()
        if mean.shape[-1:] == shape[-1:] or mean.dim() == 0:
            try:
                return mean.expand(shape).clone()
            except RuntimeError:  # it has more axes than the output, or others
                continue
    return _zeros(call, shape)


def _copy(call: Call, shape: tuple[int, ...]) -> Tensor:
    same = (value for value in _tensors(call) if tuple(value.shape) == shape)
    return next(same, _zeros(call, shape)).clone()
