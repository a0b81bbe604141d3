"""Numerics: what is right the first time stays right when asked again, with the same inputs and with others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import ClassVar

import torch
from pydantic import Field
from torch import Tensor

from grader.box.plan import Argument, Call, Function, Scalar, TensorSpec
from grader.checks.evidence import Check, Evidence, Item, Work, base_call, variant_call
from grader.checks.finding import PASSED, Finding, Verdict, failed
from grader.checks.numerics import outputs_differ, plain_calls, unsteady
from grader.checks.options import Options, misspelt
from grader.checks.traits import Trait
from grader.exercise.inputs import Case
from grader.exercise.spec import Dimension, PartSpec

_KEPT = ". The first call is right, so look for state that your code keeps from one call to the next"
_UNUSED = ". The first call is right, so your code keeps something from one call to the next, or does not use `{name}`"
_CAUSES = {
    "again": _KEPT,
    "training": ". In evaluation mode it is right, so look for `self.training`, and for dropout",
    "no_grad": ". With gradients it is right, so look for `torch.is_grad_enabled()` and `requires_grad`",
    "one_object": ". With different tensors it is right, so look for `is`, `torch.equal` and writing into an argument",
}
_WHEN = {
    "other": "called a second time, with different inputs",
    "again": "called again, with the first inputs",
    "training": "in training mode, which must not change the output",
    "no_grad": "called under `torch.no_grad()`",
    "one_object": "called with one tensor as several arguments",
}
_ANOTHER = "another "  # and the argument's name: a call with another value for it
_ELSEWHERE = "for other inputs of the same shape"
_SHRUNK = 0.5  # what other numbers are multiplied by, unless they are shares or tokens


class SteadyOptions(Options):
    """`others`, by argument of the call that is no tensor, another value for it."""

    others: dict[str, Scalar] = Field(default_factory=dict)

    def unknown(self, part: PartSpec) -> Iterator[str]:
        """Compare the names with the arguments of the call."""
        yield from misspelt("others", self.others, part.entry.arguments)


class Steady(Check):
    """Nothing but what is given counts.

    Neither the calls before do, with other numbers or other values of arguments, nor training mode where nothing is
    dropped, nor whether gradients are recorded, nor whether two arguments are one object.

    What was handed over has to be the same afterwards, in every call of the run that counts.
    Inputs that are not contiguous in memory are tried as well; what comes of them is advice.
    """

    dimension: ClassVar = Dimension.NUMERICS
    title: ClassVar[str] = "repeated calls"
    needs: ClassVar[tuple[str, ...]] = ("shape", "values")
    options: ClassVar = SteadyOptions
    traits: ClassVar = frozenset({Trait.SAME_IN_TRAINING})

    def work(self, item: Item) -> Work:
        """Call with other numbers, other values, once more with the same, and in all those ways."""
        return Work((base_call(item.case), *_variants(item).values()))

    def judge(self, item: Item, evidence: Evidence) -> Finding:
        """Compare each with what is expected of it; training mode counts where the reference does not change in it."""
        if text := _overwritten(evidence):
            return failed(text)
        for variant in _variants(item):
            if variant not in _WHEN and not variant.startswith(_ANOTHER):
                continue
            if variant == "training" and _changes_in_training(item, evidence):
                continue
            call = evidence.call(item, variant)
            if (problem := evidence.problem(call)) is not None:
                when = _when(item, variant)
                return failed(f"{when}: {problem.message}") if problem.verdict is Verdict.FAILED else problem
            if text := outputs_differ(call, evidence):
                return failed(_told(item, variant, text, evidence))
        return PASSED


def _variants(item: Item) -> dict[str, Call]:
    """Return the further calls of a case by their names, in the order in which they are made."""
    case = item.case
    calls = {
        "other": variant_call(case, "other", arguments=_other_numbers(case)),
        **{f"{_ANOTHER}{name}": _with_another(case, name, value) for name, value in _others(item).items()},
        # With another seed, so that what is drawn where nothing may be drawn shows.
        "again": replace(variant_call(case, "again"), seed=1),
        "non_contiguous": replace(variant_call(case, "non_contiguous"), non_contiguous=True),
    }
    if case.wants or case.construct:  # else there is no gradient to be without
        calls["no_grad"] = replace(variant_call(case, "no_grad"), no_grad=True)
    if alike := _one_for_several(case):
        calls["one_object"] = replace(variant_call(case, "one_object", arguments=alike), one_object=True)
    if case.construct:
        calls["training"] = replace(variant_call(case, "training"), training=True)
    return calls


def _others(item: Item) -> Mapping[str, Scalar]:
    return item.given(SteadyOptions).others


def _with_another(case: Case, name: str, value: Scalar) -> Call:
    """Return the call of a case with another value for an argument; a function is told by its name."""
    is_function = isinstance(case.arguments.get(name), Function)
    given: Argument = Function(str(value)) if is_function else value
    return variant_call(case, f"{_ANOTHER}{name}", arguments={name: given})


def _when(item: Item, variant: str) -> str:
    """Return which of the calls it is, in words."""
    return _WHEN.get(variant) or f"called a second time, with {_given(item, variant)}"


def _given(item: Item, variant: str) -> str:
    """Return the argument that has another value in a call, with that value."""
    name = variant.removeprefix(_ANOTHER)
    return f"`{name}` = {_others(item)[name]!r}"


def _told(item: Item, variant: str, text: str, evidence: Evidence) -> str:
    """Return that a call is wrong, and why as far as that has been seen."""
    base, when, cause = evidence.call(item, "base"), _when(item, variant), _CAUSES.get(variant, "")
    if outputs_differ(base, evidence):
        cause = ""
    elif variant == "other" or variant.startswith(_ANOTHER):
        is_kept = _is_kept(base, evidence.call(item, variant), evidence)
        cause = _KEPT if is_kept else ""
        if cause and variant != "other":  # who never uses an argument repeats the first result as well
            cause = _UNUSED.format(name=variant.removeprefix(_ANOTHER))
        if not is_kept:
            when = _ELSEWHERE if variant == "other" else f"for the same tensors, with {_given(item, variant)}"
    return f"{when}, your output is wrong: {text}{cause}"


def _is_kept(base: Call, other: Call, evidence: Evidence) -> bool:
    """Return whether what came is what the call before gave, all of it or in part, so that something was kept.

    Where other inputs are merely computed wrongly, what comes is neither the first result nor that result times
    what the inputs were multiplied by. A first result that is wrong in another case speaks against the latter. Code
    that gives something else for equal inputs keeps something as well.
    """
    if unsteady(evidence):
        return True
    wrong = [slot for slot in other.outputs if not slot.dtype and _misses(other, slot, evidence).any()]
    factors = (1.0,) if _fails_elsewhere(evidence) else (1.0, _SHRUNK)
    return any(_repeats(base, other, wrong, factor=factor, evidence=evidence) for factor in factors)


def _repeats(base: Call, other: Call, wrong: list[TensorSpec], *, factor: float, evidence: Evidence) -> bool:
    """Return whether all that is wrong in `other` is what `base` gave, times `factor`."""
    return bool(wrong) and all(
        torch.allclose(
            evidence.output(other, slot)[misses],
            evidence.output(base, slot)[misses] * factor,
            rtol=0.0,
            atol=evidence.bound(other, slot.key),
        )
        for slot in wrong
        for misses in (_misses(other, slot, evidence),)
    )


def _misses(call: Call, slot: TensorSpec, evidence: Evidence) -> Tensor:
    """Return which elements of an output are not as expected."""
    expected = evidence.truth(call, slot.key)
    assert expected is not None
    bound = evidence.bound(call, slot.key)
    return ~torch.isclose(evidence.output(call, slot), expected.double(), rtol=0.0, atol=bound, equal_nan=True)


def _fails_elsewhere(evidence: Evidence) -> bool:
    """Return whether the first call of a case is wrong as well."""
    return any(evidence.problem(call) is not None or outputs_differ(call, evidence) for call in plain_calls(evidence))


def _overwritten(evidence: Evidence) -> str:
    """Return which arguments the submission changed in place; empty if none."""
    counted = (seen for name, seen in evidence.observed.calls.items() if name not in evidence.free)
    names = sorted({name for seen in counted for name in seen.modified})
    if not names:
        return ""
    listed = ", ".join(f"`{name}`" for name in names)
    return (
        f"your code must not change its arguments; it changes {listed} in place. Look for "
        "operations that end in an underscore, for `+=` and similar operators, and for `x[...] = ...`, and "
        "create a new tensor instead"
    )


def _other_numbers(case: Case) -> dict[str, Argument]:
    """Return other numbers of the same shapes; masks and -inf stay, shares add up to one, tokens come backwards."""
    return {
        name: _other(value, is_share=name in case.shares) if isinstance(value, Tensor) else value
        for name, value in case.arguments.items()
    }


def _one_for_several(case: Case) -> dict[str, Argument]:
    """Return the arguments that can be one tensor, with that tensor; none where no two of them have one shape."""
    tensors = {name: value for name in case.wants if isinstance(value := case.arguments[name], Tensor)}
    first: dict[tuple[int, ...], Tensor] = {}
    same = {name: first.setdefault(tuple(value.shape), value) for name, value in tensors.items()}
    return dict(same) if len(first) < len(same) else {}


def _other(value: Tensor, *, is_share: bool) -> Tensor:
    if is_share or (value.dtype == torch.int64 and value.dim() > 1):
        return value.flip(-1)
    return value * _SHRUNK if value.is_floating_point() else value


def _changes_in_training(item: Item, evidence: Evidence) -> bool:
    """Return whether the reference gives something else in training mode: then it drops, and chance decides."""
    base, training = evidence.call(item, "base"), evidence.call(item, "training")
    pairs = ((evidence.truth(base, slot.key), evidence.truth(training, slot.key)) for slot in base.outputs)
    return any(plain is None or other is None or not torch.equal(plain, other) for plain, other in pairs)
