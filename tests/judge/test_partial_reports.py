"""A report of which some dimensions are hidden: what is shown, and that it tells nothing of the others."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.box.inline import InlineBox
from grader.checks.registry import checks
from grader.exercise.catalog import Exercise
from grader.judge.grade import grade
from grader.judge.report import BUILDS_ON, Dimension, PartialReport, Report, Status, Verdict, hidden_with
from tests.checks.workshop import ATTEND, ATTEND_TOML, MISTAKES, build
from tests.pages.samples import check, failed_report


@pytest.fixture(scope="module")
def attend(tmp_path_factory: pytest.TempPathFactory) -> Exercise:
    """A function with a mask."""
    return build(tmp_path_factory.mktemp("attend"), ATTEND_TOML, ATTEND, MISTAKES)


def test_dimensions_build_on_each_other_as_their_checks_do() -> None:
    """A check is skipped where one that it needs did not pass, and says which."""
    needed: dict[Dimension, set[Dimension]] = {dimension: set() for dimension in Dimension}
    for one in checks().values():
        needed[one.dimension] |= {checks()[name].dimension for name in one.needs} - {one.dimension}

    assert needed == BUILDS_ON
    assert hidden_with({Dimension.NUMERICS}) == {Dimension.NUMERICS, Dimension.GRADIENTS}


def test_what_is_shown_does_not_depend_on_what_is_hidden() -> None:
    """Neither on the hidden checks, nor on points, figures, causes, and how the run ended."""
    masking = frozenset({Dimension.MASKING})
    shown = check("small: shape", Dimension.SHAPES, Verdict.FAILED, "yours has two axes")
    reports = [
        replace(failed_report(), checks=(shown, check("small: influence", Dimension.MASKING, Verdict.FAILED, "no"))),
        replace(failed_report("other"), score=50.0, checks=(check("a", Dimension.MASKING, Verdict.PASSED), shown)),
        Report("causal_attention", Status.TIMEOUT, 0.0, 7, "cpu", 9.0, checks=(replace(shown, possible=2.5),)),
        replace(failed_report(), incident="abc", complete=False, output="printed in a hidden case", checks=(shown,)),
    ]

    expected = PartialReport(masking, (replace(shown, earned=0.0, possible=0.0),))
    assert [one.without(masking) for one in reports] == [expected] * 4


@pytest.mark.parametrize("dimension", [one for one in Dimension if one not in (Dimension.SHAPES, Dimension.LEARNING)])
def test_no_line_that_is_shown_names_a_hidden_check(attend: Exercise, dimension: Dimension) -> None:
    """Of an answer that fails everywhere for one reason, which is long, and of one with a wrong shape."""
    lacking = ATTEND.replace("value, mask):", "value):").replace("~mask", "~key.bool()")
    flat = ATTEND.replace("return output", "return output.flatten(1)")
    for source in (lacking, flat):
        report = grade(attend, source, seed=1, box=InlineBox())
        part = report.without(hidden_with({dimension}))
        hidden = {one.name for one in report.checks} - {one.name for one in part.checks}
        told = " ".join(one.message for one in part.checks)

        assert {one.dimension for one in part.checks} == set(report.dimensions) - part.hidden
        assert not [name for name in hidden if name in told]


def test_code_that_could_not_be_run_says_why() -> None:
    """That is about no dimension."""
    report = Report("softmax", Status.REJECTED, 0.0, 7, "cpu", 0.1, reason="`softmax` is not defined")
    part = report.without(frozenset({Dimension.MASKING}))

    assert (part.status, part.reason, part.checks) == (Status.REJECTED, "`softmax` is not defined", ())
