"""Initialisation: a weight begins as the contract says, before it is given its value."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import ClassVar

from pydantic import Field

from grader.checks.evidence import Check, Evidence, Item, Work, base_call
from grader.checks.finding import PASSED, Finding, failed, skipped
from grader.checks.options import Options, misspelt
from grader.exercise.spec import Dimension, PartSpec

_SIGMAS = 6.0  # of what is estimated from so many draws; an honest one leaves this band once in 500 million


def alike(one: tuple[float, float], other: tuple[float, float], count: int) -> bool:
    """Return whether two times `count` numbers, of which mean and standard deviation are given, may be of one kind."""
    (mean, std), (other_mean, other_std) = one, other
    spread = max(std, other_std)
    near = abs(std - other_std) <= _SIGMAS * spread / math.sqrt(count)  # twice the variance of one estimate
    return near and abs(mean - other_mean) <= _SIGMAS * spread * math.sqrt(2 / count)


class InitialOptions(Options):
    """`weight`, a weight of the contract; `std`, the standard deviation with which it must begin."""

    weight: str
    std: float = Field(gt=0)

    def unknown(self, part: PartSpec) -> Iterator[str]:
        """Compare `weight` with the contract's weights."""
        yield from misspelt("weight", (self.weight,), part.weights)


class Initial(Check):
    """The `weight` begins around 0 with standard deviation `std`."""

    dimension: ClassVar = Dimension.NUMERICS
    title: ClassVar[str] = "initial values"
    needs: ClassVar[tuple[str, ...]] = ("shape",)
    options: ClassVar = InitialOptions

    def work(self, item: Item) -> Work:
        """Call once, so that the module is built."""
        return Work((base_call(item.case),), initial_of=(item.given(InitialOptions).weight,))

    def judge(self, item: Item, evidence: Evidence) -> Finding:
        """Compare mean and standard deviation, as far as so many draws can tell."""
        call, options = evidence.call(item, "base"), item.given(InitialOptions)
        name, wanted = options.weight, options.std
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
