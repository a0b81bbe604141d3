"""Values: the outputs are right, the first time and when asked again, with other inputs and in less precision."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

import torch
from pydantic import Field
from torch import Tensor

from grader.box.keys import BASE, call_name, case_of, variant_of
from grader.box.plan import Argument, Call, Function, Scalar, TensorSpec
from grader.checks.compare import difference, same, where
from grader.checks.evidence import Evidence, Item, Options, Trait, Work, base_call, variant_call
from grader.checks.finding import PASSED, Finding, Verdict, failed, skipped
from grader.checks.registry import check
from grader.exercise.inputs import Case
from grader.exercise.spec import Dimension

_UNSTEADY = (
    "two equal calls give different results: `{name}` changes when your code is called again with the same "
    "inputs. Fix this first. Is dropout still active in evaluation mode, or does your code keep state from one call "
    "to the next?"
)
_NO_KERNEL = "not implemented for 'Half'"  # on the CPU, of an initialiser, say; a GPU may have it


def outputs_differ(call: Call, evidence: Evidence) -> str:
    """Return how the outputs of `call` differ from those expected; empty if they agree."""
    return evidence.once(("outputs", call.name), lambda: next(_differences(call, evidence), ""))


def _differences(call: Call, evidence: Evidence) -> Iterator[str]:
    for slot in call.outputs:
        expected, seen = evidence.expected_output(call, slot), evidence.output(call, slot)
        if same(seen, expected):
            continue
        if text := difference(slot.name, seen, expected, bound=evidence.bound(call, slot.key), slot=slot):
            yield text


def plain_calls(evidence: Evidence) -> list[Call]:
    """Return the plain call of each case that points depend on, without those that must be refused."""

    def is_judged(call: Call) -> bool:
        build = evidence.plan.build_of(call)
        return call.name not in evidence.free and (build is None or not build.must_raise)

    return [call for call in evidence.plan.calls if variant_of(call.name) == BASE and is_judged(call)]


def unsteady(evidence: Evidence) -> str:
    """Return that two equal calls differ, which explains more than any number that is wrong; empty where none do."""
    return evidence.once(unsteady, lambda: next(_unsteady(evidence), ""))


def _unsteady(evidence: Evidence) -> Iterator[str]:
    for again in (call for call in evidence.plan.calls if variant_of(call.name) == "again"):
        first = evidence.plan.call(call_name(case_of(again.name)))
        if evidence.problem(first) is not None or evidence.problem(again) is not None:
            continue
        for slot in first.outputs:
            before, after = evidence.output(first, slot), evidence.output(again, slot)
            bound = evidence.bound(first, slot.key)
            if not same(before, after) and not torch.allclose(before, after, rtol=0.0, atol=bound, equal_nan=True):
                yield _UNSTEADY.format(name=slot.name)


@check("values", "output values", Dimension.NUMERICS, traits=[Trait.SHOWS_OUTPUTS])
def judge_values(item: Item, evidence: Evidence) -> Finding:
    """Every element of every output must equal the reference's, up to rounding."""
    text = outputs_differ(evidence.call(item, "base"), evidence)
    return failed(unsteady(evidence) or text) if text else PASSED


def _half_work(item: Item) -> Work:
    halved = replace(item.case, dtype="float16")
    call = replace(base_call(halved), name=call_name(item.case.name, "half"))
    return Work((call,), (halved.build,) if halved.build is not None else ())


@check("half", "half precision", Dimension.NUMERICS, work=_half_work, after=(), needs=("shape", "values"))
def judge_half(item: Item, evidence: Evidence) -> Finding:
    """The case must give the same in float16, up to its rounding: no fill value overflows, nothing insists on a dtype.

    It is advice, as `finite` is: what a right answer does where numbers are short.
    """
    call = evidence.call(item, "half")
    if (problem := evidence.problem(call)) is not None:
        return skipped("because PyTorch lacks an operation here") if _NO_KERNEL in problem.message else problem
    text = outputs_differ(call, evidence)
    return failed(unsteady(evidence) or text) if text else PASSED


@check("finite", "finite everywhere", Dimension.NUMERICS)
def judge_finite(item: Item, evidence: Evidence) -> Finding:
    """No output may be NaN or infinite: advice for inputs beyond the contract, such as a row with nothing to see."""
    call = evidence.call(item, "base")
    for slot in call.outputs:
        stray = ~torch.isfinite(evidence.output(call, slot))
        if stray.any():
            index = tuple(int(i) for i in stray.nonzero()[0])
            return failed(f"`{slot.name}` is NaN or infinite at {where(index, slot)}")
    return PASSED


# ---- repeated calls

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
_SHRUNK = 0.5  # what other numbers are multiplied by, unless they are shares or tokens


class SteadyOptions(Options):
    """`others`, by argument of the call that is no tensor, another value for it."""

    others: dict[str, Scalar] = Field(default_factory=dict)
    names: ClassVar = {"others": lambda _, part: part.entry.arguments}


def _variants(item: Item) -> dict[str, Call]:
    """Return the further calls of a case by their names, in the order in which they are made."""
    case = item.case
    calls = {"other": variant_call(case, "other", arguments=_other_numbers(case))}
    for name, value in item.given(SteadyOptions).others.items():
        is_function = isinstance(case.arguments.get(name), Function)  # which is told by its name
        given: Argument = Function(str(value)) if is_function else value
        calls[f"{_ANOTHER}{name}"] = variant_call(case, f"{_ANOTHER}{name}", arguments={name: given})
    # With another seed, so that what is drawn where nothing may be drawn shows.
    calls["again"] = replace(variant_call(case, "again"), seed=1)
    calls["non_contiguous"] = replace(variant_call(case, "non_contiguous"), non_contiguous=True)
    if case.wants or case.construct:  # else there is no gradient to be without
        calls["no_grad"] = replace(variant_call(case, "no_grad"), no_grad=True)
    if alike := _one_for_several(case):
        calls["one_object"] = replace(variant_call(case, "one_object", arguments=alike), one_object=True)
    if case.construct:
        calls["training"] = replace(variant_call(case, "training"), training=True)
    return calls


def _other_numbers(case: Case) -> dict[str, Argument]:
    """Return other numbers of the same shapes; masks and -inf stay, shares add up to one, tokens come backwards."""
    changed = dict(case.arguments)
    for name, value in case.arguments.items():
        if not isinstance(value, Tensor):
            continue
        if name in case.shares or (value.dtype == torch.int64 and value.dim() > 1):
            changed[name] = value.flip(-1)
        elif value.is_floating_point():
            changed[name] = value * _SHRUNK
    return changed


def _one_for_several(case: Case) -> dict[str, Argument]:
    """Return the arguments that can be one tensor, with that tensor; none where no two of them have one shape."""
    tensors = {name: value for name in case.wants if isinstance(value := case.arguments[name], Tensor)}
    first: dict[tuple[int, ...], Tensor] = {}
    alike = {name: first.setdefault(tuple(value.shape), value) for name, value in tensors.items()}
    return dict(alike) if len(first) < len(alike) else {}


@check(
    "steady",
    "repeated calls",
    Dimension.NUMERICS,
    work=lambda item: Work((base_call(item.case), *_variants(item).values())),
    after=(),
    needs=("shape", "values"),
    options=SteadyOptions,
    traits=[Trait.SAME_IN_TRAINING],
)
def judge_steady(item: Item, evidence: Evidence) -> Finding:
    """Nothing but what is given may count.

    Neither the calls before do, with other numbers or other values of arguments, nor training mode where nothing is
    dropped, nor whether gradients are recorded, nor whether two arguments are one object. Training mode counts where
    the reference does not change in it.

    What was handed over has to be the same afterwards, in every call of the run that counts.
    Inputs that are not contiguous in memory are tried as well; what comes of them is advice.
    """
    if text := _overwritten(evidence):
        return failed(text)
    for variant in _variants(item):
        is_asked = variant in _WHEN or variant.startswith(_ANOTHER)
        if not is_asked or (variant == "training" and _changes_in_training(item, evidence)):
            continue
        call = evidence.call(item, variant)
        if (problem := evidence.problem(call)) is not None:
            when = _WHEN.get(variant) or f"called a second time, with {_given(item, variant)}"
            return failed(f"{when}: {problem.message}") if problem.verdict is Verdict.FAILED else problem
        if text := outputs_differ(call, evidence):
            return failed(_unlike(item, variant, text, evidence))
    return PASSED


def _given(item: Item, variant: str) -> str:
    """Return the argument that has another value in a call, with that value."""
    name = variant.removeprefix(_ANOTHER)
    return f"`{name}` = {item.given(SteadyOptions).others[name]!r}"


def _unlike(item: Item, variant: str, text: str, evidence: Evidence) -> str:
    """Return that a call is wrong, and why as far as that has been seen."""
    base, cause = evidence.call(item, "base"), _CAUSES.get(variant, "")
    when = _WHEN.get(variant) or f"called a second time, with {_given(item, variant)}"
    if outputs_differ(base, evidence):
        cause = ""
    elif variant == "other" or variant.startswith(_ANOTHER):
        is_kept = _is_kept(base, evidence.call(item, variant), evidence)
        cause = _KEPT if is_kept else ""
        if cause and variant != "other":  # who never uses an argument repeats the first result as well
            cause = _UNUSED.format(name=variant.removeprefix(_ANOTHER))
        if not is_kept and variant == "other":
            when = "for other inputs of the same shape"
        elif not is_kept:
            when = f"for the same tensors, with {_given(item, variant)}"
    return f"{when}, your output is wrong: {text}{cause}"


def _is_kept(base: Call, other: Call, evidence: Evidence) -> bool:
    """Return whether what came is what the call before gave, all of it or in part, so that something was kept.

    Where other inputs are merely computed wrongly, what comes is neither the first result nor that result times
    what the inputs were multiplied by. A first result that is wrong in another case speaks against the latter. Code
    that gives something else for equal inputs keeps something as well.
    """
    if unsteady(evidence):
        return True
    misses = {slot: _misses(other, slot, evidence) for slot in other.outputs if not slot.dtype}
    misses = {slot: wrong for slot, wrong in misses.items() if wrong.any()}
    fails_elsewhere = any(evidence.problem(x) is not None or outputs_differ(x, evidence) for x in plain_calls(evidence))

    def repeats(factor: float) -> bool:
        return bool(misses) and all(
            torch.allclose(
                evidence.output(other, slot)[wrong],
                evidence.output(base, slot)[wrong] * factor,
                rtol=0.0,
                atol=evidence.bound(other, slot.key),
            )
            for slot, wrong in misses.items()
        )

    return repeats(1.0) or (not fails_elsewhere and repeats(_SHRUNK))


def _misses(call: Call, slot: TensorSpec, evidence: Evidence) -> Tensor:
    """Return which elements of an output are not as expected."""
    expected, bound = evidence.expected_output(call, slot).double(), evidence.bound(call, slot.key)
    return ~torch.isclose(evidence.output(call, slot), expected, rtol=0.0, atol=bound, equal_nan=True)


def _overwritten(evidence: Evidence) -> str:
    """Return which arguments the submission changed in place; empty if none."""
    counted = (seen for name, seen in evidence.observed.calls.items() if name not in evidence.free)
    names = sorted({name for seen in counted for name in seen.modified})
    if not names:
        return ""
    return (
        f"your code must not change its arguments; it changes {', '.join(f'`{name}`' for name in names)} in place. "
        "Look for operations that end in an underscore, for `+=` and similar operators, and for `x[...] = ...`, and "
        "create a new tensor instead"
    )


def _changes_in_training(item: Item, evidence: Evidence) -> bool:
    """Return whether the reference gives something else in training mode: then it drops, and chance decides."""
    base, training = evidence.call(item, "base"), evidence.call(item, "training")
    pairs = ((evidence.truth(base, slot.key), evidence.truth(training, slot.key)) for slot in base.outputs)
    return any(plain is None or other is None or not torch.equal(plain, other) for plain, other in pairs)
