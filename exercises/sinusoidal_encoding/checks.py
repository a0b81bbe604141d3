"""What is fixed must not be trained."""

from __future__ import annotations

from grader.checks.evidence import Evidence, Item
from grader.checks.finding import PASSED, Finding, failed
from grader.checks.registry import check
from grader.exercise.spec import Dimension

_LISTED = (  # whether it requires a gradient or not
    "your module must have no parameters here; `parameters()` lists {listed}, even where it is frozen. Store fixed "
    "tensors in a buffer (`register_buffer`)"
)


@check("no_parameters", "no parameters", Dimension.GRADIENTS)
def judge_no_parameters(item: Item, evidence: Evidence) -> Finding:
    """The module must hold no parameter beside the contract's weights: what is fixed must not be trained."""
    built = evidence.built(evidence.call(item, "base"))
    if built is None or not built.unused:
        return PASSED
    return failed(_LISTED.format(listed=", ".join(built.unused)))
