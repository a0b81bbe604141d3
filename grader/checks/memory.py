"""Memory: the forward pass holds no tensor as large as the one that it is meant to avoid."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import ClassVar

from pydantic import Field
from torch import Tensor

from grader.checks.evidence import Check, Evidence, Item, Work, base_call
from grader.checks.finding import PASSED, Finding, failed, skipped
from grader.checks.numerics import outputs_differ, plain_calls
from grader.checks.options import Options
from grader.checks.traits import Trait
from grader.errors import AuthorError
from grader.exercise.drawing import shape_of
from grader.exercise.inputs import Case
from grader.exercise.spec import Dimension

_ONLY_HERE = (
    "because your numbers are wrong in this case and right in others, so what is held here says nothing of what "
    "the right numbers take"
)


class MemoryOptions(Options):
    """`max_elements`, how many elements no tensor may reach: an axis expression such as `time*time`."""

    max_elements: str = Field(min_length=1)


class Memory(Check):
    """No tensor of the forward pass reaches `max_elements` elements.

    Counted are storages, so that a view costs nothing and a small view of something large is no disguise. In a process
    that runs a submission, what Python and NumPy hold counts as well, all together. It is the plain call that is
    measured: what other checks look at on this case came about with just that memory.

    To hold little is easy for whoever computes something else here. So where the numbers are wrong they have to be
    wrong in more than half of the cases, by one mistake that costs its own points.
    """

    dimension: ClassVar = Dimension.MEMORY
    title: ClassVar[str] = "largest tensor"
    needs: ClassVar[tuple[str, ...]] = ("shape",)
    options: ClassVar = MemoryOptions
    traits: ClassVar = frozenset({Trait.SHOWS_MEMORY})

    def work(self, item: Item) -> Work:
        """Call once, measured.

        Raises:
            AuthorError: `max_elements` is so low that an input or an output alone reaches it.
        """
        bound = bound_of(item)
        if (largest := _given(item.case)) >= bound:
            raise AuthorError(
                f"check `memory` on case `{item.case.name}`: an input or output has {largest} elements, and "
                f"`max_elements` is {bound}; no answer could pass, so make the case larger"
            )
        return Work((replace(base_call(item.case), max_elements=bound),))

    def judge(self, item: Item, evidence: Evidence) -> Finding:
        """Compare the largest storage with the bound."""
        call = evidence.call(item, "base")
        if (problem := evidence.problem(call)) is not None:
            return problem
        largest = evidence.seen(call).largest
        if largest is None:
            return failed("the sizes of your tensors could not be measured: your code disables the measurement")
        if largest < call.max_elements:
            return skipped(_ONLY_HERE) if outputs_differ(call, evidence) and _half_is_right(evidence) else PASSED
        return failed(
            f"no tensor of the forward pass may have as many as {_sum(item)} = {call.max_elements} elements; "
            f"your largest has {largest}. A view counts with its whole underlying storage; NumPy arrays and lists "
            "are added up"
        )


def _half_is_right(evidence: Evidence) -> bool:
    """Return whether the numbers of at least half of the cases are right."""
    plain = plain_calls(evidence)
    right = [call for call in plain if evidence.problem(call) is None and not outputs_differ(call, evidence)]
    return 2 * len(right) >= len(plain)


def limit_of(item: Item) -> str:
    """Return the number of elements that no tensor may reach, as an axis expression."""
    return item.given(MemoryOptions).max_elements


def bound_of(item: Item) -> int:
    """Return the number of elements that no tensor may reach."""
    (bound,) = shape_of((limit_of(item),), item.case.sizes)
    return bound


def _given(case: Case) -> int:
    inputs = [value.numel() for value in case.arguments.values() if isinstance(value, Tensor)]
    return max(inputs + [math.prod(slot.shape) for slot in case.outputs])


def _sum(item: Item) -> str:
    """Return `max_elements` with its sizes: `350 (time) x 350 (time) + 7`."""
    terms = (term.split("*") for term in limit_of(item).split("+"))
    return " + ".join(" x ".join(_counted(name.strip(), item) for name in term) for term in terms)


def _counted(name: str, item: Item) -> str:
    return name if name.isdigit() else f"{item.case.sizes[name]} ({name})"
