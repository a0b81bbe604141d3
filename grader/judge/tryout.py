"""Runs an answer on one example and says what came of it beside what was expected: no points, nothing stored.

It is the way of a grading, with a sheet that compares the outputs of one call, so that an answer that is taken here is
taken there, and the same numbers are right.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from types import MappingProxyType

from torch import Tensor

from grader.box.inline import observe_all
from grader.box.observations import CallSeen, Observations, Raised
from grader.box.plan import Argument, Call, Function, Plan
from grader.box.run import Box, Ending, Limits, Run
from grader.checks.explain import explain
from grader.checks.finding import Verdict
from grader.checks.registry import check_of
from grader.checks.traits import Trait
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
    sheet = of_cases(_only(exercise.spec, case.name), {case.name: case})
    sheet, expected = _expected(exercise, sheet)
    call = sheet.plan.calls[0]
    blank = Tryout(
        examples=tuple((one.name, one.title) for one in examples(exercise)),
        example=case.name,
        seed=seed,
        call=_written(sheet.plan, call),
        arguments=tuple(_argument(case, name, value) for name, value in call.arguments.items()),
    )
    run_on = partial(box.run, limits=LIMITS)
    run = partial(run_on, source=text)
    refused = expected.calls.get(call.name, CallSeen("")).raised or _refused(expected)
    if refused is not None:
        seen = run(sheet.plan)
        said = f"These inputs make the reference raise too: {explain(refused)}. Nothing can be compared"
        return replace(blank, message=clean(said, limit=1000), printed=clean(seen.output, limit=MOST_PRINTED))
    outcome = attempt(sheet, text, run_on, lambda _: (expected, Observations()))
    found = _told(blank, sheet, outcome)
    if exercise.is_starter(text.encode()):
        return replace(found, right=None, message=STILL_THE_STARTER, line=None)
    if outcome.run.ending is Ending.TIMEOUT and (place := unfinished(WrongAnswer(exercise, outcome, text, run))):
        found = replace(found, message=f"{found.message}. {place.message}", line=place.line)
    return found


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
    seen = expected.calls.get(sheet.plan.calls[0].name, CallSeen(""))
    shapes = {key: slot.shape for key, slot in seen.slots.items()}
    if all(shapes.get(slot.key, slot.shape) == slot.shape for slot in sheet.plan.calls[0].outputs):
        return sheet, expected
    calls = (
        replace(call, outputs=tuple(replace(slot, shape=shapes.get(slot.key, slot.shape)) for slot in call.outputs))
        for call in sheet.plan.calls
    )
    sheet = replace(sheet, plan=replace(sheet.plan, calls=tuple(calls)))
    return sheet, observe_all(sheet.plan, exercise.reference())


def _refused(expected: Observations) -> Raised | None:
    return next((built.raised for built in expected.builds.values() if built.raised is not None), None)


def _told(blank: Tryout, sheet: Sheet, outcome: Outcome) -> Tryout:
    """Return what the run of an answer showed."""
    call, run, evidence = sheet.plan.calls[0], outcome.run, outcome.evidence
    seen = run.observations.calls.get(call.name)
    findings = [line.finding for line in outcome.judged]
    right = all(one.verdict is Verdict.PASSED for one in findings) and run.ending is Ending.FINISHED
    message = "As expected" if right else outcome.misread or _message(run, [one.message for one in findings])
    raised = _raised(run.observations, seen)
    shown = outcome.evidence.plan.calls[0]
    return replace(
        blank,
        outputs=tuple(_outputs(outcome, shown)),
        right=right if evidence.expected.calls else None,
        message=clean(message, limit=1000),
        line=raised.line if raised is not None and raised.cell is None else None,
        printed=clean(run.output, limit=MOST_PRINTED),
    )


def _message(run: Run, found: list[str]) -> str:
    if run.ending in _ENDINGS:
        return _ENDINGS[run.ending] + (f" ({run.detail})" if run.detail else "")
    if run.observations.loading is not None:
        return explain(run.observations.loading)
    return next(filter(None, found), "")


def _raised(seen: Observations, call: CallSeen | None) -> Raised | None:
    built = (one.raised for one in seen.builds.values())
    return seen.loading or next(filter(None, built), None) or (call.raised if call else None)


def _outputs(outcome: Outcome, call: Call) -> Iterator[ShownOutput]:
    evidence = outcome.evidence
    seen = outcome.run.observations.calls.get(call.name, CallSeen(call.name))
    for slot in call.outputs:
        truth, found = evidence.truth(call, slot.key), seen.slots.get(slot.key)
        expected = truth if truth is None else _tensor(slot.name, truth, slot.axes)
        yours = None if found is None or found.tensor is None else found.tensor
        if yours is None or truth is None or yours.shape != truth.shape:
            yield ShownOutput(None, expected)
            continue
        wrong = _wrong(yours.double(), truth.double(), evidence.bound(call, slot.key))
        yield ShownOutput(replace(_tensor(slot.name, yours, slot.axes), wrong=wrong), expected)


def _wrong(seen: Tensor, expected: Tensor, bound: float) -> tuple[int, ...]:
    wrong = ~(((seen - expected).abs() <= bound) | (seen == expected))
    return tuple(place for place in wrong.reshape(-1).nonzero().reshape(-1).tolist() if place < MOST_CELLS)


def _argument(case: Case, name: str, value: Argument) -> ShownTensor:
    if isinstance(value, Tensor):
        return replace(_tensor(name, value, case.axes.get(name, ())), typed=can_be_typed(value))
    text = value.name if isinstance(value, Function) else value if isinstance(value, str) else repr(value)
    return ShownTensor(name, (text,), typed=can_be_typed(value))


def _tensor(name: str, value: Tensor, axes: tuple[str, ...]) -> ShownTensor:
    flat = value.reshape(-1)[:MOST_CELLS].tolist()
    cells = tuple(f"{one:.4g}" if isinstance(one, float) else str(int(one)) for one in flat)
    return ShownTensor(name, cells, axes, tuple(value.shape), str(value.dtype).removeprefix("torch."))


def _written(plan: Plan, call: Call) -> str:
    """Return what was run as one would write it: `Attention(d_in=3)(x)`."""
    entry, build = plan.contract(call.part), plan.build_of(call)
    made = "" if build is None else "(" + ", ".join(f"{key}={value!r}" for key, value in build.arguments.items()) + ")"
    given = ", ".join(
        name if isinstance(value, Tensor) else f"{name}={value.name if isinstance(value, Function) else repr(value)}"
        for name, value in call.arguments.items()
    )
    return f"{entry.name}{made}({given})"
