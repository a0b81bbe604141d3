"""Runs an answer on one example and says what came of it beside what was expected: no points, nothing stored.

It is the way of a grading, with a sheet that compares the outputs of one call, so that an answer that is taken here is
taken there, and the same numbers are right. Examples are the small cases of an exercise, with numbers of somebody's own
choice. What is typed for an argument is read in linear time: nested lists as Python, JSON, NumPy and PyTorch write
them, such as `[[1, 2.5], [3, -inf]]`, `tensor([1., 2.])` and `[[True False]]`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from types import MappingProxyType

import torch
from torch import Tensor

from grader.box.inline import observe_all
from grader.box.observations import CallSeen, Observations, Raised
from grader.box.plan import Argument, Call, Function, Plan, Scalar, TensorSpec
from grader.box.run import Box, Ending, Limits
from grader.checks.compare import wrong_elements
from grader.checks.evidence import Trait
from grader.checks.explain import explain
from grader.checks.finding import Verdict
from grader.checks.registry import check_of
from grader.errors import AuthorError, Rejected
from grader.exercise.catalog import STILL_THE_STARTER, Exercise
from grader.exercise.drawing import shape_of
from grader.exercise.inputs import Case, inputs_of
from grader.exercise.spec import CaseSpec, InputSpec, Sizes, Spec
from grader.judge.attempt import Outcome, attempt
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
    wrong = wrong_elements(yours, truth, evidence.bound(call, slot.key))
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


# ---- examples, and what is typed for them

LONGEST = 8_000  # characters that are typed for one argument
_LARGEST_CASE = 64  # length of an axis of a case that can be tried
_LONGEST_AXIS = 32
_MOST_NUMBERS = 512  # in one tensor
_DEEPEST = 6  # axes
_LARGEST_WHOLE = 64  # sizes and counts follow from whole numbers, and time and memory from those
_DECIMALS = 2  # of drawn inputs, so that they can be read and retyped
_TOKEN = re.compile(r"\s*(\[|\]|,|[-+]?(?:inf|nan|True|False|true|false|[0-9]+\.?[0-9]*(?:[eE][-+]?[0-9]+)?|\.[0-9]+))")
_WRAPPER = re.compile(r"\s*(?:torch\.)?(?:tensor|array)\(")
_WORDS = {"True": 1.0, "true": 1.0, "False": 0.0, "false": 0.0}
_FLAGS = {"True": True, "true": True, "1": True, "False": False, "false": False, "0": False}


def examples(exercise: Exercise) -> list[CaseSpec]:
    """Return the cases that can be tried: small ones with outputs to compare, in double precision."""
    spec = exercise.spec
    shown = {name for one in spec.checks if Trait.SHOWS_OUTPUTS in check_of(one).traits for name in one.cases}
    found = []
    for case in spec.cases:
        kind = spec.part_of(case).entry.kind
        largest = max((size for size in case.sizes.values() if isinstance(size, int)), default=0)
        plain = not (kind.trains or kind.brings_a_model or case.draw) and case.dtype == "float64"
        if case.name in shown and plain and largest <= _LARGEST_CASE:
            found.append(case)
    return found


def make_example(exercise: Exercise, name: str, seed: int, typed: Mapping[str, str]) -> Case:
    """Return an example with drawn numbers, and with the typed ones in place of those.

    Args:
        exercise: whose example it is.
        name: of the case; the first one if there is none of that name.
        seed: what everything is drawn from.
        typed: what somebody typed, by argument.

    Raises:
        Rejected: it has no example, or what was typed does not fit; the text says why.
    """
    known = examples(exercise)
    if not known:
        raise Rejected("this exercise has no small example to try, because a model is trained in it; run the checks")
    spec = next((case for case in known if case.name == name), known[0])
    drawn, inputs = exercise.draw(spec, seed), inputs_of(exercise.spec, spec)
    values = {name: _read(drawn, inputs.get(name), name, text) for name, text in typed.items()}
    sizes = _sizes(spec, inputs, values)
    if sizes != spec.sizes:
        if spec.make is not None:
            raise Rejected("this example needs the sizes that it has; type other numbers, or choose another example")
        try:
            drawn = exercise.draw(spec.model_copy(update={"sizes": sizes}), seed)
        except (AuthorError, ValueError, RuntimeError, IndexError) as fault:
            raise Rejected(f"this example cannot have these sizes: {fault}") from fault
    # Drawn numbers are rounded where nothing depends on their digits.
    plain = {name for name, entry in inputs.items() if entry.kind == "normal" and spec.make is None}
    readable = {
        name: torch.round(value, decimals=_DECIMALS) if name in plain and isinstance(value, Tensor) else value
        for name, value in drawn.arguments.items()
    }
    return replace(drawn, arguments={**readable, **values})


def can_be_typed(value: Argument) -> bool:
    """Return whether an argument of an example is one that somebody may type."""
    if isinstance(value, Tensor):
        return value.numel() <= _MOST_NUMBERS
    return value is not None and not isinstance(value, Function)


def _read(drawn: Case, entry: InputSpec | None, name: str, text: str) -> Argument:
    if name not in drawn.arguments or isinstance(like := drawn.arguments[name], Function) or like is None:
        raise Rejected(f"`{name[:40]}` cannot be typed in this example")
    if not isinstance(like, Tensor):
        return read_scalar(name, text, like)
    below = shape_of((entry.high,), drawn.sizes)[0] if entry is not None and entry.kind == "tokens" else None
    return read_tensor(name, text, like, below)


def _sizes(spec: CaseSpec, inputs: Mapping[str, InputSpec], values: Mapping[str, Argument]) -> Sizes:
    """Return the sizes of an example as the typed values have them.

    Raises:
        Rejected: two of them disagree, or one is too large.
    """
    sizes = dict(spec.sizes)
    seen: Sizes = {}
    for name, value in values.items():
        given: Sizes = {name: value} if type(value) is int else {}
        if name in inputs and isinstance(value, Tensor):
            given = _sizes_of(inputs[name].axes, tuple(value.shape))
        for axis, size in given.items():
            if axis not in sizes or type(size) is not type(sizes[axis]):
                continue
            if seen.setdefault(axis, size) != size:
                what = "the leading sizes are" if axis == "..." else f"`{axis}` is"
                raise Rejected(f"{what} {seen[axis]} in one argument and {size} in `{name}`; it must be the same")
            _check_size(axis, size, sizes[axis])
    return {**sizes, **seen}


def _sizes_of(axes: tuple[str, ...], shape: tuple[int, ...]) -> Sizes:
    """Return the size of each axis; `...`, which comes first, stands for those that have no name."""
    named = [axis for axis in axes if axis != "..."]
    leading = len(shape) - len(named)
    sizes: Sizes = dict(zip(named, shape[leading:], strict=True))
    return {**sizes, "...": list(shape[:leading])} if "..." in axes else sizes


def _check_size(axis: str, size: int | list[int], usual: int | list[int]) -> None:
    largest = max([_LONGEST_AXIS, *([usual] if isinstance(usual, int) else usual)])
    for one in [size] if isinstance(size, int) else size:
        if not 1 <= one <= largest:
            raise Rejected(f"`{axis}` must be between 1 and {_LONGEST_AXIS} in an example; you typed {one}")


def read_scalar(name: str, text: str, like: Scalar) -> Scalar:
    """Return the scalar that `text` says, of the same type as `like`.

    Raises:
        Rejected: it is none, or too large; the text says why.
    """
    text = text.strip()
    if isinstance(like, str):
        return text[: LONGEST // 8]
    if isinstance(like, bool):
        if text not in _FLAGS:
            raise Rejected(f"`{name}` must be True or False")
        return _FLAGS[text]
    try:
        number = float(text)
    except ValueError:
        raise Rejected(f"`{name}` must be a number") from None
    if isinstance(like, float):
        return number
    largest = max(_LARGEST_WHOLE, abs(like or 0))
    if not math.isfinite(number) or number != int(number) or abs(number) > largest:
        raise Rejected(f"`{name}` must be a whole number, at most {largest}")
    return int(number)


def read_tensor(name: str, text: str, like: Tensor, below: int | None = None) -> Tensor:
    """Return the tensor that `text` says, in the dtype of `like` and with as many axes.

    Args:
        name: of the argument, for messages.
        text: nested lists of numbers.
        like: what stands there otherwise.
        below: whole numbers have to be at least 0 and under this.

    Raises:
        Rejected: it is no such tensor; the text says why.
    """
    numbers, shape = _nested(name, text)
    if len(shape) != like.dim():
        wanted, given = (f"{count} {'axis' if count == 1 else 'axes'}" for count in (like.dim(), len(shape)))
        raise Rejected(f"`{name}` needs {wanted}; what you typed has {given}")
    if not like.dtype.is_floating_point:
        flags = like.dtype is torch.bool
        largest = 1 if flags else _LARGEST_WHOLE if below is None else below - 1
        if any(not math.isfinite(one) or one != int(one) or not 0 <= one <= largest for one in numbers):
            what = "True or False (or 1 or 0)" if flags else f"whole numbers from 0 to {largest}"
            raise Rejected(f"`{name}` takes {what} only")
    return torch.tensor(numbers, dtype=torch.float64).reshape(shape).to(like.dtype)


def _nested(name: str, text: str) -> tuple[list[float], tuple[int, ...]]:
    numbers: list[float] = []
    lengths: list[int] = []  # of the lists that are open
    shape: dict[int, int] = {}  # by depth, once a list of that depth has been closed
    for token in _tokens(name, text):
        if 1 in shape:
            raise Rejected(f"`{name}`: something follows after the last bracket")
        if token == "]":
            _close(name, lengths, shape)
            continue
        if lengths:
            lengths[-1] += 1
        elif token != "[":
            raise Rejected(f"`{name}`: start with a bracket, as in [[1, 2], [3, 4]]")
        if token != "[":
            numbers.append(_WORDS[token] if token in _WORDS else float(token))
        elif len(lengths) >= _DEEPEST:
            raise Rejected(f"`{name}`: more than {_DEEPEST} brackets inside each other")
        else:
            lengths.append(0)
    if 1 not in shape:
        raise Rejected(f"`{name}`: a bracket is not closed")
    sizes = tuple(shape[depth] for depth in range(1, len(shape) + 1))
    if math.prod(sizes) != len(numbers):
        raise Rejected(f"`{name}`: numbers and lists are mixed; each number belongs into the innermost list")
    return numbers, sizes


def _close(name: str, lengths: list[int], shape: dict[int, int]) -> None:
    if not lengths:
        raise Rejected(f"`{name}`: a bracket is closed that was never opened")
    depth, length = len(lengths), lengths.pop()
    if shape.setdefault(depth, length) != length:
        raise Rejected(f"`{name}`: all rows must be equally long; one has {shape[depth]} entries, another {length}")


def _tokens(name: str, text: str) -> Iterator[str]:
    if len(text) > LONGEST:
        raise Rejected(f"`{name}`: at most {LONGEST} characters can be typed")
    if wrapped := _WRAPPER.match(text):
        text = text[wrapped.end() :].rstrip().removesuffix(")")
    text = text.rstrip()
    tokens, place = [], 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            raise Rejected(f"`{name}`: cannot read {text[place : place + 12].strip()!r}; type nested lists of numbers")
        place = match.end()
        tokens.append(match[1])
    if sum(token not in "[]," for token in tokens) > _MOST_NUMBERS:
        raise Rejected(f"`{name}`: at most {_MOST_NUMBERS} numbers")
    return (token for token in tokens if token != ",")
