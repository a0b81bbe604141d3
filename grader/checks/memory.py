"""Memory: the forward pass holds no tensor as large as the one that it is meant to avoid."""

from __future__ import annotations

import math
from dataclasses import replace

from pydantic import Field
from torch import Tensor

from grader.checks.evidence import Evidence, Item, Options, Trait, Work, base_call
from grader.checks.finding import PASSED, Finding, failed, skipped
from grader.checks.registry import check
from grader.checks.values import outputs_differ, plain_calls
from grader.errors import AuthorError
from grader.exercise.drawing import shape_of
from grader.exercise.spec import Dimension

_ONLY_HERE = (
    "because your numbers are wrong in this case and right in others, so what is held here says nothing of what "
    "the right numbers take"
)


class MemoryOptions(Options):
    """`max_elements`, how many elements no tensor may reach: an axis expression such as `time*time`."""

    max_elements: str = Field(min_length=1)


def limit_of(item: Item) -> str:
    """Return the number of elements that no tensor may reach, as an axis expression."""
    return item.given(MemoryOptions).max_elements


def _work(item: Item) -> Work:
    """Return one call, measured.

    Raises:
        AuthorError: `max_elements` is so low that an input or an output alone reaches it.
    """
    case = item.case
    (bound,) = shape_of((limit_of(item),), case.sizes)
    inputs = [value.numel() for value in case.arguments.values() if isinstance(value, Tensor)]
    if (largest := max(inputs + [math.prod(slot.shape) for slot in case.outputs])) >= bound:
        raise AuthorError(
            f"check `memory` on case `{case.name}`: an input or output has {largest} elements, and "
            f"`max_elements` is {bound}; no answer could pass, so make the case larger"
        )
    return Work((replace(base_call(case), max_elements=bound),))


@check("memory", "largest tensor", Dimension.MEMORY, work=_work, options=MemoryOptions, traits=[Trait.SHOWS_MEMORY])
def judge_memory(item: Item, evidence: Evidence) -> Finding:
    """No tensor of the forward pass may reach `max_elements` elements.

    Counted are storages, so that a view costs nothing and a small view of something large is no disguise. In a process
    that runs a submission, what Python and NumPy hold counts as well, all together. It is the plain call that is
    measured: what other checks look at on this case came about with just that memory.

    To hold little is easy for whoever computes something else here. So where the numbers are wrong they have to be
    wrong in more than half of the cases, by one mistake that costs its own points.
    """
    call = evidence.call(item, "base")
    largest = evidence.seen(call).largest
    if largest is None:
        return failed("the sizes of your tensors could not be measured: your code disables the measurement")
    if largest < call.max_elements:
        return skipped(_ONLY_HERE) if outputs_differ(call, evidence) and _half_is_right(evidence) else PASSED
    sizes, terms = item.case.sizes, [term.split("*") for term in limit_of(item).split("+")]
    named = [[n.strip() if n.strip().isdigit() else f"{sizes[n.strip()]} ({n.strip()})" for n in t] for t in terms]
    bound = " + ".join(" x ".join(factors) for factors in named)  # such as `350 (time) x 350 (time) + 7`
    return failed(
        f"no tensor of the forward pass may have as many as {bound} = {call.max_elements} elements; "
        f"your largest has {largest}. A view counts with its whole underlying storage; NumPy arrays and lists "
        "are added up"
    )


def _half_is_right(evidence: Evidence) -> bool:
    """Return whether the numbers of at least half of the cases are right."""
    plain = plain_calls(evidence)
    right = [call for call in plain if evidence.problem(call) is None and not outputs_differ(call, evidence)]
    return 2 * len(right) >= len(plain)
