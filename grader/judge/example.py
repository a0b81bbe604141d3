"""The examples of an exercise that somebody can try an answer on: its small cases, with numbers of their own choice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import torch
from torch import Tensor

from grader.box.plan import Argument, Function
from grader.checks.registry import check_of
from grader.checks.traits import Trait
from grader.errors import AuthorError, Rejected
from grader.exercise.catalog import Exercise
from grader.exercise.drawing import shape_of
from grader.exercise.inputs import Case, inputs_of
from grader.exercise.spec import CaseSpec, InputSpec, Sizes
from grader.judge.typed_values import MOST_NUMBERS, read_scalar, read_tensor

LONGEST_AXIS = 32
_DECIMALS = 2  # of drawn inputs, so that they can be read and retyped


def examples(exercise: Exercise) -> list[CaseSpec]:
    """Return the cases that can be tried: those with outputs to compare, in double precision."""
    spec = exercise.spec
    shown = {name for one in spec.checks if Trait.SHOWS_OUTPUTS in check_of(one).traits for name in one.cases}
    return [case for case in spec.cases if case.name in shown and _can_be_tried(exercise, case)]


def _can_be_tried(exercise: Exercise, case: CaseSpec) -> bool:
    kind = exercise.spec.part_of(case).entry.kind
    sizes = [size for size in case.sizes.values() if isinstance(size, int)]
    return (
        not (kind.trains or kind.brings_a_model or case.draw)
        and case.dtype == "float64"
        and max(sizes, default=0) <= 64
    )


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
    drawn = exercise.draw(spec, seed)
    inputs = inputs_of(exercise.spec, spec)
    values = {name: _read(drawn, inputs.get(name), name, text) for name, text in typed.items()}
    sizes = _sizes(spec, inputs, values)
    if sizes != spec.sizes:
        if spec.make is not None:
            raise Rejected("this example needs the sizes that it has; type other numbers, or choose another example")
        drawn = _resized(exercise, spec, sizes, seed)
    return replace(drawn, arguments={**_readable(spec, inputs, drawn), **values})


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
        found: Sizes = {name: value} if type(value) is int else {}
        if isinstance(value, Tensor):
            found = _sizes_of(inputs[name].axes, tuple(value.shape))
        for axis, size in found.items():
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
    return {
        **dict(zip(named, shape[leading:], strict=True)),
        **({"...": list(shape[:leading])} if "..." in axes else {}),
    }


def _check_size(axis: str, size: int | list[int], usual: int | list[int]) -> None:
    for one in [size] if isinstance(size, int) else size:
        if not 1 <= one <= max([LONGEST_AXIS, *([usual] if isinstance(usual, int) else usual)]):
            raise Rejected(f"`{axis}` must be between 1 and {LONGEST_AXIS} in an example; you typed {one}")


def _resized(exercise: Exercise, spec: CaseSpec, sizes: Sizes, seed: int) -> Case:
    try:
        return exercise.draw(spec.model_copy(update={"sizes": sizes}), seed)
    except (AuthorError, ValueError, RuntimeError, IndexError) as fault:
        raise Rejected(f"this example cannot have these sizes: {fault}") from fault


def _readable(spec: CaseSpec, inputs: Mapping[str, InputSpec], drawn: Case) -> dict[str, Argument]:
    """Return the arguments, with drawn numbers rounded where nothing depends on their digits."""
    plain = {name for name, entry in inputs.items() if entry.kind == "normal" and spec.make is None}
    return {
        name: torch.round(value, decimals=_DECIMALS) if name in plain and isinstance(value, Tensor) else value
        for name, value in drawn.arguments.items()
    }


def can_be_typed(value: Argument) -> bool:
    """Return whether an argument of an example is one that somebody may type."""
    if isinstance(value, Tensor):
        return value.numel() <= MOST_NUMBERS
    return value is not None and not isinstance(value, Function)
