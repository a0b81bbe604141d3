"""Every kind of check by the name that exercises call it."""

from __future__ import annotations

from collections.abc import Mapping

from grader.checks.evidence import Check
from grader.checks.gradients import GradientFlow, GradientValues, NoParameters
from grader.checks.masking import Influence, Support
from grader.checks.numerics import Dropout, Steady, Values
from grader.checks.precision import Finite, Half
from grader.checks.shapes import Refusal, Shape

CHECKS: Mapping[str, Check] = {
    "shape": Shape(),
    "refusal": Refusal(),
    "values": Values(),
    "steady": Steady(),
    "dropout": Dropout(),
    "finite": Finite(),
    "half": Half(),
    "influence": Influence(),
    "support": Support(),
    "gradient_flow": GradientFlow(),
    "gradient_values": GradientValues(),
    "no_parameters": NoParameters(),
}
