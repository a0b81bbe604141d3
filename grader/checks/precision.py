"""Precision: panels beside the verdict, for advice. They show what a right answer does where numbers are short."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import torch

from grader.box.keys import call_name
from grader.checks.compare import where
from grader.checks.evidence import Check, Evidence, Item, Work, base_call
from grader.checks.finding import PASSED, Finding, failed, skipped
from grader.checks.numerics import outputs_differ, unsteady
from grader.exercise.inputs import Case
from grader.exercise.spec import Dimension

_NO_KERNEL = "not implemented for 'Half'"  # on the CPU, of an initialiser, say; a GPU may have it


class Half(Check):
    """The case gives the same in float16, up to its rounding: no fill value overflows, nothing insists on a dtype."""

    dimension: ClassVar = Dimension.NUMERICS
    title: ClassVar[str] = "half precision"
    needs: ClassVar[tuple[str, ...]] = ("shape", "values")

    def work(self, item: Item) -> Work:
        """Call once, with everything in float16."""
        halved = _halved(item.case)
        build = halved.build
        call = replace(base_call(halved), name=call_name(item.case.name, "half"))
        return Work((call,), (build,) if build is not None else ())

    def judge(self, item: Item, evidence: Evidence) -> Finding:
        """Compare with the expected output, as far as float16 can tell."""
        call = evidence.call(item, "half")
        if (problem := evidence.problem(call)) is not None:
            return skipped("because PyTorch lacks an operation here") if _NO_KERNEL in problem.message else problem
        text = outputs_differ(call, evidence)
        return failed(unsteady(evidence) or text) if text else PASSED


class Finite(Check):
    """No output is NaN or infinite: advice for inputs that no contract covers, such as a row with nothing to see."""

    dimension: ClassVar = Dimension.NUMERICS
    title: ClassVar[str] = "finite everywhere"
    needs: ClassVar[tuple[str, ...]] = ("shape",)

    def work(self, item: Item) -> Work:
        """Call once."""
        return Work((base_call(item.case),))

    def judge(self, item: Item, evidence: Evidence) -> Finding:
        """Look for the first element that is not finite."""
        call = evidence.call(item, "base")
        if (problem := evidence.problem(call)) is not None:
            return problem
        for slot in call.outputs:
            stray = ~torch.isfinite(evidence.output(call, slot))
            if stray.any():
                index = tuple(int(i) for i in stray.nonzero()[0])
                return failed(f"`{slot.name}` is NaN or infinite at {where(index, slot)}")
        return PASSED


def _halved(case: Case) -> Case:
    return replace(case, dtype="float16")
