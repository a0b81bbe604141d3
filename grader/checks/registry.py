"""Every kind of check by the name that exercises call it."""

from __future__ import annotations

from collections.abc import Mapping

from grader.checks.evidence import Check
from grader.checks.gradients import DropoutGradient, GradientFlow, GradientValues, NoParameters
from grader.checks.initial import Initial
from grader.checks.learning import Accuracy, Bleu, Loss
from grader.checks.looking import Labels, Trainable, Untouched
from grader.checks.masking import Influence, Outscored, Support
from grader.checks.memory import Memory
from grader.checks.numerics import Dropout, Steady, Values
from grader.checks.precision import Finite, Half
from grader.checks.properties import Permutation, RowSums, Shift
from grader.checks.shapes import Refusal, Shape

CHECKS: Mapping[str, Check] = {
    "shape": Shape(),
    "refusal": Refusal(),
    "values": Values(),
    "steady": Steady(),
    "dropout": Dropout(),
    "initial": Initial(),
    "row_sums": RowSums(),
    "permutation": Permutation(),
    "shift": Shift(),
    "finite": Finite(),
    "half": Half(),
    "influence": Influence(),
    "support": Support(),
    "outscored": Outscored(),
    "gradient_flow": GradientFlow(),
    "gradient_values": GradientValues(),
    "dropout_gradient": DropoutGradient(),
    "no_parameters": NoParameters(),
    "memory": Memory(),
    "loss": Loss(),
    "accuracy": Accuracy(),
    "bleu": Bleu(),
    "untouched": Untouched(),
    "trainable": Trainable(),
    "labels": Labels(),
}
