"""The table of positions begins with small numbers."""

from __future__ import annotations

import math
from typing import ClassVar

from pydantic import Field

from grader.checks.evidence import Evidence, Item, Options, Work, base_call
from grader.checks.finding import PASSED, Finding, failed, skipped
from grader.checks.properties import SIGMAS
from grader.checks.registry import check
from grader.exercise.spec import Dimension


class InitialOptions(Options):
    """`weight`, a weight of the contract; `std`, the standard deviation with which it must begin."""

    weight: str
    std: float = Field(gt=0)
    names: ClassVar = {"weight": lambda _, part: part.weights}


@check(
    "initial",
    "initial values",
    Dimension.NUMERICS,
    work=lambda item: Work((base_call(item.case),), initial_of=(item.given(InitialOptions).weight,)),
    options=InitialOptions,
)
def judge_initial(item: Item, evidence: Evidence) -> Finding:
    """Before it is given its value the `weight` must lie around 0 with standard deviation `std`.

    Both are compared as far as so many draws can tell.
    """
    options = item.given(InitialOptions)
    name, wanted = options.weight, options.std
    built = evidence.built(evidence.call(item, "base"))
    if built is None:
        return skipped(f"because `{name}` was not found")
    mean, std = built.initial.get(name, (math.nan, math.nan))  # what is not finite does not come out of the sandbox
    if not math.isfinite(mean) or not math.isfinite(std):
        return failed(
            f"`{name}` must be initialised with standard deviation {wanted:g}; yours contains NaN or infinity"
        )
    count = next(weight.matrix.numel() for weight in item.case.weights if weight.name == name)
    over = f"over its {count} numbers, yours has"
    if abs(std / wanted - 1) > SIGMAS / math.sqrt(2 * count):
        return failed(f"`{name}` must be initialised with standard deviation {wanted:g}; {over} {std:.3g}")
    if abs(mean) > SIGMAS * wanted / math.sqrt(count):
        return failed(f"`{name}` must be initialised with mean 0; {over} mean {mean:.3g}")
    return PASSED
