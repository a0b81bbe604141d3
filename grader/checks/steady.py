"""Numerics: what is right the first time stays right when asked again, with the same inputs and with others."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import torch
from torch import Tensor

from grader.box.plan import Argument, Call, TensorSpec
from grader.checks.evidence import Check, Evidence, Item, Work, base_call, variant_call
from grader.checks.finding import PASSED, Finding, Verdict, failed
from grader.checks.numerics import outputs_differ, plain_calls, unsteady
from grader.checks.traits import Trait
from grader.exercise.inputs import Case
from grader.exercise.spec import Dimension

_KEPT = ". The first call is right, so look for state that your code keeps from one call to the next"
_CAUSES = {
    "again": _KEPT,
    "training": ". In evaluation mode it is right, so look for `self.training`, and for dropout",
    "no_grad": ". With gradients it is right, so look for `torch.is_grad_enabled()` and `requires_grad`",
    "one_object": ". With two objects it is right, so look for `is`, and for what is written into an argument",
}
_WHEN = {
    "other": "called a second time, with different inputs",
    "again": "called again, with the first inputs",
    "training": "in training mode, which must not change the output",
    "no_grad": "called under `torch.no_grad()`",
    "one_object": "called with one tensor as several arguments",
}
_ELSEWHERE = "for other inputs of the same shape"
_SHRUNK = 0.5  # what other numbers are multiplied by, unless they are shares or tokens


class Steady(Check):
    """Nothing but the numbers given counts.

    Neither the calls before do, nor training mode where nothing is dropped, nor whether gradients are recorded, nor
    whether two arguments are one object.

    What was handed over has to be the same afterwards, in every call of the run that counts.
    Inputs that are not contiguous in memory are tried as well; what comes of them is advice.
    """

    dimension: ClassVar = Dimension.NUMERICS
    title: ClassVar[str] = "repeated calls"
    needs: ClassVar[tuple[str, ...]] = ("shape", "values")
    traits: ClassVar = frozenset({Trait.SAME_IN_TRAINING})

    def work(self, item: Item) -> Work:
        """Call with other numbers, once more with the same, in all those ways, and a module in training mode too."""
        return Work((base_call(item.case), *_variants(item.case).values()))

    def judge(self, item: Item, evidence: Evidence) -> Finding:
        """Compare each with what is expected of it; training mode counts where the reference does not change in it."""
        if text := _overwritten(evidence):
            return failed(text)
        made = _variants(item.case)
        for variant in (name for name in _WHEN if name in made):
            if variant == "training" and _changes_in_training(item, evidence):
                continue
            call = evidence.call(item, variant)
            if (problem := evidence.problem(call)) is not None:
                return failed(f"{_WHEN[variant]}: {problem.message}") if problem.verdict is Verdict.FAILED else problem
            if text := outputs_differ(call, evidence):
                return failed(_told(item, variant, text, evidence))
        return PASSED


def _variants(case: Case) -> dict[str, Call]:
    """Return the further calls of a case by their names, in the order in which they are made."""
    calls = {
        "other": variant_call(case, "other", arguments=_other_numbers(case)),
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


def _told(item: Item, variant: str, text: str, evidence: Evidence) -> str:
    """Return that a call is wrong, and why as far as that has been seen."""
    base, when, cause = evidence.call(item, "base"), _WHEN[variant], _CAUSES.get(variant, "")
    if outputs_differ(base, evidence):
        cause = ""
    elif variant == "other":
        is_kept = _is_kept(base, evidence.call(item, variant), evidence)
        when, cause = (when, _KEPT) if is_kept else (_ELSEWHERE, "")
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
