"""Masking: what is masked is hidden, in the mask, in the weights, and where its score is the highest of all."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor

from grader.box.keys import variant_of
from grader.box.observations import Observations
from grader.box.plan import Call, TensorSpec
from grader.checks.compare import difference, hides, where
from grader.checks.evidence import Check, Evidence, Item, Work, base_call, variant_call
from grader.checks.finding import PASSED, Finding, failed
from grader.checks.numerics import plain_calls
from grader.checks.options import OneOutput
from grader.checks.undefined import cause_of_nan
from grader.exercise.spec import Dimension


class Support(Check):
    """What the reference hides is hidden: its weights are zero there, its mask is -inf or False.

    In a mask, whatever else is hidden is wrong as well. A weight must be exactly zero, for a small one counts as
    soon as its score or its value is large.
    """

    dimension: ClassVar = Dimension.MASKING
    title: ClassVar[str] = "masked weights are zero"
    needs: ClassVar[tuple[str, ...]] = ("shape",)
    options: ClassVar = OneOutput

    def work(self, item: Item) -> Work:
        """Call once."""
        return Work((base_call(item.case),))

    def judge(self, item: Item, evidence: Evidence) -> Finding:
        """Look at the places where the reference's weights are exactly zero."""
        call = evidence.call(item, "base")
        if (problem := evidence.problem(call)) is not None:
            return problem
        slot = call.output(item.given(OneOutput).output)
        seen, expected = evidence.output(call, slot), evidence.truth(call, slot.key)
        assert expected is not None
        if slot.dtype == "bool" or _is_added(slot, evidence):
            return _compare_masks(slot, seen, expected)
        if cause := cause_of_nan(seen, expected):
            return failed(f"of `{slot.name}`, {cause}")
        wrong = (expected == 0) & (seen != 0)
        if not wrong.any():
            return PASSED
        index = tuple(int(i) for i in wrong.nonzero()[0])
        return failed(
            f"`{slot.name}` must be 0 at {where(index, slot)}, which is masked; "
            f"yours is {float(seen[index]):.4g}. "
            f"{int(wrong.sum())} of {int((expected == 0).sum())} masked weights are not 0"
        )


_OUTSCORED = "outscored"


class Outscored(Check):
    """The outputs are the reference's although a hidden key scores far above the visible ones.

    What is not finite is accepted: who masks after the softmax and divides by what is left is right, and gets 0/0.
    """

    dimension: ClassVar = Dimension.MASKING
    title: ClassVar[str] = "masked keys with the highest scores"
    needs: ClassVar[tuple[str, ...]] = ("shape",)

    def work(self, item: Item) -> Work:
        """Call once, under a name of its own: what is not finite there tells of no mistake."""
        return Work((variant_call(item.case, _OUTSCORED),))

    def judge(self, item: Item, evidence: Evidence) -> Finding:
        """Compare what is finite, element by element."""
        call = evidence.call(item, _OUTSCORED)
        if (problem := evidence.problem(call)) is not None:
            return problem
        for slot in call.outputs:
            seen, expected = evidence.output(call, slot), evidence.truth(call, slot.key)
            assert expected is not None
            seen = torch.where(seen.isfinite(), seen, expected.double())
            bound = evidence.bound(call, slot.key)
            if text := difference(slot.name, seen, expected, bound=bound, slot=slot):
                return failed(f"where a masked key has the highest score of its row, your output is wrong: {text}")
        return PASSED


def _is_added(slot: TensorSpec, evidence: Evidence) -> bool:
    """Return whether an output is a mask that is added to scores; a mask for a single token hides nothing."""
    calls = (call for call in plain_calls(evidence) if any(one.key == slot.key for one in call.outputs))
    truths = (evidence.truth(call, slot.key) for call in calls)
    return evidence.once(("added", slot.key), lambda: any(truth is not None and hides(truth) for truth in truths))


def says_nothing(call: Call, observed: Observations) -> bool:
    """Return whether `call` is one in which hidden keys outscore the visible ones, and its outputs are not finite."""
    seen = observed.calls.get(call.name)
    if seen is None or variant_of(call.name) != _OUTSCORED:
        return False
    outputs = (seen.slots[slot.key].tensor for slot in call.outputs if slot.key in seen.slots)
    return any(tensor is not None and not bool(tensor.isfinite().all()) for tensor in outputs)


def _compare_masks(slot: TensorSpec, seen: Tensor, expected: Tensor) -> Finding:
    """Compare what two masks hide: -inf in one that is added to scores, False in one of bools."""
    hidden, word = (-torch.inf, "-inf") if slot.dtype != "bool" else (0.0, "False")
    wrong = (seen == hidden) != (expected == hidden)
    if not wrong.any():
        return PASSED
    index = tuple(int(i) for i in wrong.nonzero()[0])
    found = f"{float(seen[index]):.4g}" if slot.dtype != "bool" else str(bool(seen[index]))
    must = (
        f"must be {word}, because it is masked"
        if expected[index] == hidden
        else f"is not masked, so it must not be {word}"
    )
    return failed(
        f"`{slot.name}` at {where(index, slot)} {must}; yours is {found}. {int(wrong.sum())} such places in all"
    )
