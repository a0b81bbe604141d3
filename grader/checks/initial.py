"""Initialisation: a weight begins as the contract says, before it is given its value."""

from __future__ import annotations

import math
from typing import ClassVar

from grader.checks.evidence import Evidence, Item, Work, base_call
from grader.checks.finding import PASSED, Finding, failed, skipped
from grader.exercise.spec import Dimension

_SIGMAS = 6.0  # of what is estimated from so many draws; an honest one leaves this band once in 500 million


def alike(one: tuple[float, float], other: tuple[float, float], count: int) -> bool:
    """Return whether two times `count` numbers, of which mean and standard deviation are given, may be of one kind."""
    (mean, std), (other_mean, other_std) = one, other
    spread = max(std, other_std)
    near = abs(std - other_std) <= _SIGMAS * spread / math.sqrt(count)  # twice the variance of one estimate
    return near and abs(mean - other_mean) <= _SIGMAS * spread * math.sqrt(2 / count)


class Initial:
    """The `weight` begins around 0 with standard deviation `std`."""

    dimension: ClassVar = Dimension.NUMERICS
    title: ClassVar[str] = "initial values"
    needs: ClassVar[tuple[str, ...]] = ("shape",)

    def work(self, item: Item) -> Work:
        """Call once, so that the module is built."""
        return Work((base_call(item.case),))

    def judge(self, item: Item, evidence: Evidence) -> Finding:
        """Compare mean and standard deviation, as far as so many draws can tell."""
        call, name, wanted = evidence.call(item, "base"), item.spec.weight, item.spec.std
        if (problem := evidence.problem(call)) is not None:
            return problem
        built = evidence.built(call)
        if built is None:
            return skipped(f"because `{name}` was not found")
        found = built.initial.get(name, (math.nan, math.nan))  # what is not finite does not come out of the sandbox
        if not all(map(math.isfinite, found)):
            return failed(
                f"`{name}` must be initialised with standard deviation {wanted:g}; yours contains NaN or infinity"
            )
        count = next(weight.matrix.numel() for weight in item.case.weights if weight.name == name)
        mean, std = found
        over = f"over its {count} numbers, yours has"
        if abs(std / wanted - 1) > _SIGMAS / math.sqrt(2 * count):
            return failed(f"`{name}` must be initialised with standard deviation {wanted:g}; {over} {std:.3g}")
        if abs(mean) > _SIGMAS * wanted / math.sqrt(count):
            return failed(f"`{name}` must be initialised with mean 0; {over} mean {mean:.3g}")
        return PASSED
