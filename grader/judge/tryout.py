"""Runs an answer on one example and says what came of it beside what was expected: no points, nothing stored.

It is the way of a grading, with a sheet that compares the outputs of one call, so that an answer that is taken here is
taken there, and the same numbers are right.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from types import MappingProxyType

from torch import Tensor

from grader.box.inline import observe_all
from grader.box.observations import CallSeen, Observations, Raised
from grader.box.plan import Argument, Call, Function, Plan, TensorSpec
from grader.box.run import Box, Ending, Limits
from grader.checks.evidence import Trait
from grader.checks.explain import explain
from grader.checks.finding import Verdict
from grader.checks.registry import check_of
from grader.exercise.catalog import STILL_THE_STARTER, Exercise
from grader.exercise.inputs import Case
from grader.exercise.spec import Spec
from grader.judge.attempt import Outcome, attempt
from grader.judge.example import can_be_typed, examples, make_example
from grader.judge.explain.symptoms import unfinished
from grader.judge.explain.trace import WrongAnswer
from grader.judge.sheet import Sheet, of_cases
from grader.judge.source import read_source
from grader.judge.text import clean

LIMITS = Limits(cpu_seconds=3.0, wall_seconds=4.0, output_bytes=16 << 10)
MOST_CELLS = 512  # of a tensor that is shown
MOST_PRINTED = 4000  # characters
NOTHING: Mapping[str, str] = MappingProxyType({})
_ENDINGS = {
    Ending.TIMEOUT: f"Your code was stopped after {LIMITS.wall_seconds:.0f} seconds; an example has no more time",
    Ending.MEMORY: "Your code was stopped because it used too much memory",
    Ending.OUTPUT: "Your code was stopped because it printed too much",
    Ending.CRASHED: "Your code ended its process",
    Ending.PROTOCOL: "Your code corrupted the channel for its results",
}


@dataclass(frozen=True, slots=True)
class ShownTensor:
    """A tensor, or another value, in words.

    Attributes:
        cells: its numbers in order, as text; only the first `MOST_CELLS`.
        shape: None for what is no tensor, which has one cell.
        typed: whether somebody may type another one in its place.
        wrong: of an answer's output, the places in `cells` that are not as expected.
    """

    name: str
    cells: tuple[str, ...]
    axes: tuple[str, ...] = ()
    shape: tuple[int, ...] | None = None
    dtype: str = ""
    typed: bool = False
    wrong: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ShownOutput:
    """An output as the answer gave it (None: it gave none of that shape), and as it was expected."""

    yours: ShownTensor | None
    expected: ShownTensor | None


@dataclass(frozen=True, slots=True)
class Tryout:
    """What came of an answer on one example.

    Attributes:
        examples: all that there are, their names and titles.
        example: the name of this one.
        call: what was run, as it would be written.
        right: whether the outputs are as expected; None where nothing can be said about that.
        message: one sentence on what was seen.
        line: of the source, where it has one.
        printed: what the code printed.
    """

    examples: tuple[tuple[str, str], ...]
    example: str
    seed: int
    call: str
    arguments: tuple[ShownTensor, ...]
    outputs: tuple[ShownOutput, ...] = ()
    right: bool | None = None
    message: str = ""
    line: int | None = None
    printed: str = ""

    def to_json(self) -> str:
        """Return it as one line of JSON."""
        return json.dumps(asdict(self))


def try_out(
    exercise: Exercise, source: str, box: Box, *, example: str = "", seed: int = 1, typed: Mapping[str, str] = NOTHING
) -> Tryout:
    """Run `source` on one example of `exercise` in `box`.

    Args:
        exercise: what it is an answer to.
        source: the answer.
        box: where it runs.
        example: a case of the exercise; the first one if there is none of that name.
        seed: what the numbers are drawn from.
        typed: what is to stand in place of drawn numbers, by argument.

    Raises:
        Rejected: the exercise has no example, or the source or what was typed is of no use; the text says why.
        GraderFault: something of ours failed.
    """
    text = read_source(source, limit_bytes=LIMITS.source_bytes)
    case = make_example(exercise, example, seed, typed)
    sheet, expected = _expected(exercise, of_cases(_only(exercise.spec, case.name), {case.name: case}))
    call = sheet.plan.calls[0]
    blank = Tryout(
        examples=tuple((one.name, one.title) for one in examples(exercise)),
        example=case.name,
        seed=seed,
        call=_as_code(sheet.plan, call),
        arguments=tuple(_argument(case, name, value) for name, value in call.arguments.items()),
    )
    run_on = partial(box.run, limits=LIMITS)
    run = partial(run_on, source=text)
    if (refused := _raised(expected, call)) is not None:
        said = f"These inputs make the reference raise too: {explain(refused)}. Nothing can be compared"
        printed = clean(run(sheet.plan).output, limit=MOST_PRINTED)
        return replace(blank, message=clean(said, limit=1000), printed=printed)
    outcome = attempt(sheet, text, run_on, lambda _: (expected, Observations()))
    tried = _outcome(blank, outcome)
    if exercise.is_starter(text.encode()):
        return replace(tried, right=None, message=STILL_THE_STARTER, line=None)
    if outcome.run.ending is Ending.TIMEOUT and (place := unfinished(WrongAnswer(exercise, outcome, text, run))):
        return replace(tried, message=f"{tried.message}. {place.message}", line=place.line)
    return tried


def _only(spec: Spec, case: str) -> Spec:
    """Return an exercise of one case, with the checks that compare its outputs, and what they need for no points."""
    of_case = [one for one in spec.checks if case in one.cases]
    shown = [one for one in of_case if Trait.SHOWS_OUTPUTS in check_of(one).traits]
    needed = {name for one in shown for name in check_of(one).needs}
    unpaid = [one.model_copy(update={"points": 0.0}) for one in of_case if one.check in needed and one not in shown]
    kept = [one.model_copy(update={"cases": (case,)}) for one in (*unpaid, *shown)]
    return spec.model_copy(update={"checks": tuple(kept)})


def _expected(exercise: Exercise, sheet: Sheet) -> tuple[Sheet, Observations]:
    """Return what the reference gives, and the sheet with the shapes of that: sizes may follow from what was typed."""
    expected = observe_all(sheet.plan, exercise.reference())
    (first, *others) = sheet.plan.calls
    seen = expected.calls.get(first.name, CallSeen("")).slots
    outputs = [replace(slot, shape=seen[slot.key].shape) if slot.key in seen else slot for slot in first.outputs]
    if tuple(outputs) == first.outputs:
        return sheet, expected
    shapes = {slot.key: slot.shape for slot in outputs}
    calls = (
        replace(call, outputs=tuple(replace(slot, shape=shapes.get(slot.key, slot.shape)) for slot in call.outputs))
        for call in (first, *others)
    )
    sheet = replace(sheet, plan=replace(sheet.plan, calls=tuple(calls)))
    return sheet, observe_all(sheet.plan, exercise.reference())


def _outcome(blank: Tryout, outcome: Outcome) -> Tryout:
    """Return `blank` with what the run of an answer showed."""
    run, evidence = outcome.run, outcome.evidence
    call, findings = evidence.plan.calls[0], [line.finding for line in outcome.judged]
    right = all(one.verdict is Verdict.PASSED for one in findings) and run.ending is Ending.FINISHED
    if right:
        message = "As expected"
    elif outcome.misread:
        message = outcome.misread
    elif run.ending in _ENDINGS:
        message = _ENDINGS[run.ending] + (f" ({run.detail})" if run.detail else "")
    elif run.observations.loading is not None:
        message = explain(run.observations.loading)
    else:
        message = next((one.message for one in findings if one.message), "")
    raised = _raised(run.observations, call)
    return replace(
        blank,
        outputs=tuple(_output(outcome, call, slot) for slot in call.outputs),
        right=right if evidence.expected.calls else None,
        message=clean(message, limit=1000),
        line=raised.line if raised is not None and raised.cell is None else None,
        printed=clean(run.output, limit=MOST_PRINTED),
    )


def _raised(observed: Observations, call: Call) -> Raised | None:
    """Return the first error: of loading, of a constructor, or of the call."""
    seen = observed.calls.get(call.name)
    built = [one.raised for one in observed.builds.values()]
    return next(filter(None, (observed.loading, *built, seen.raised if seen else None)), None)


def _output(outcome: Outcome, call: Call, slot: TensorSpec) -> ShownOutput:
    evidence = outcome.evidence
    seen = outcome.run.observations.calls.get(call.name, CallSeen(call.name)).slots.get(slot.key)
    truth, yours = evidence.truth(call, slot.key), None if seen is None else seen.tensor
    if truth is None:
        return ShownOutput(None, None)
    expected = _tensor(slot.name, truth, slot.axes)
    if yours is None or yours.shape != truth.shape:
        return ShownOutput(None, expected)
    one, other = yours.double(), truth.double()
    wrong = ~(((one - other).abs() <= evidence.bound(call, slot.key)) | (one == other))
    places = [place for place in wrong.reshape(-1).nonzero().reshape(-1).tolist() if place < MOST_CELLS]
    return ShownOutput(replace(_tensor(slot.name, yours, slot.axes), wrong=tuple(places)), expected)


def _argument(case: Case, name: str, value: Argument) -> ShownTensor:
    if isinstance(value, Tensor):
        return replace(_tensor(name, value, case.axes.get(name, ())), typed=can_be_typed(value))
    text = value.name if isinstance(value, Function) else value if isinstance(value, str) else repr(value)
    return ShownTensor(name, (text,), typed=can_be_typed(value))


def _tensor(name: str, value: Tensor, axes: tuple[str, ...]) -> ShownTensor:
    flat = value.reshape(-1)[:MOST_CELLS].tolist()
    cells = tuple(f"{one:.4g}" if isinstance(one, float) else str(int(one)) for one in flat)
    return ShownTensor(name, cells, axes, tuple(value.shape), str(value.dtype).removeprefix("torch."))


def _as_code(plan: Plan, call: Call) -> str:
    """Return what is run as one would write it: `Attention(d_in=3)(x)`."""
    entry, build = plan.contract(call.part), plan.build_of(call)
    made = "" if build is None else "(" + ", ".join(f"{key}={value!r}" for key, value in build.arguments.items()) + ")"
    given = ", ".join(
        name if isinstance(value, Tensor) else f"{name}={value.name if isinstance(value, Function) else repr(value)}"
        for name, value in call.arguments.items()
    )
    return f"{entry.name}{made}({given})"
