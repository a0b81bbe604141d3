"""Every kind of check by the name that exercises call it, and the lines of a report that an exercise asks for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from grader.checks.dropout_gradients import DropoutGradient
from grader.checks.evidence import Check, Item
from grader.checks.gradients import GradientFlow, GradientValues, NoParameters
from grader.checks.influence import Influence
from grader.checks.initial import Initial
from grader.checks.learning import Accuracy, Bleu, Loss
from grader.checks.looking import Labels, Trainable, Untouched
from grader.checks.masking import Outscored, Support
from grader.checks.memory import Memory
from grader.checks.numerics import Dropout, Values
from grader.checks.options import Options, read_options
from grader.checks.precision import Finite, Half
from grader.checks.properties import Permutation, RowSums, Shift
from grader.checks.shapes import RefusesWrongArguments, Shape
from grader.checks.steady import Steady
from grader.errors import AuthorError
from grader.exercise.inputs import Case
from grader.exercise.spec import CheckSpec, Spec

CHECKS: Mapping[str, Check] = {
    "shape": Shape(),
    "refusal": RefusesWrongArguments(),
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


def check_of(spec: CheckSpec) -> Check:
    """Return the check that an exercise names.

    Raises:
        AuthorError: there is none of that name.
    """
    if spec.check not in CHECKS:
        raise AuthorError(f"there is no check `{spec.check}`; there are {', '.join(CHECKS)}")
    return CHECKS[spec.check]


def given_options(spec: Spec) -> list[Options]:
    """Return the options that an exercise gives to each of its checks, in their order.

    Raises:
        AuthorError: a check is not there, or has other options.
    """
    parts = {case.name: spec.part_of(case) for case in spec.cases}
    return [
        read_options(one.check, check_of(one).options, one.options, [parts[name] for name in one.cases])
        for one in spec.checks
    ]


def items_of(spec: Spec, cases: Mapping[str, Case]) -> Iterator[Item]:
    """Yield the lines of the report to come.

    Raises:
        AuthorError: a check is not there, or has other options.
    """
    for one, options in zip(spec.checks, given_options(spec), strict=True):
        check = check_of(one)
        for name in one.cases:
            title = f"{cases[name].title}: {one.title or check.title}"
            yield Item(one, check, options, cases[name], title, one.points / len(one.cases))
