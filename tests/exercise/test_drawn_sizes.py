"""Sizes that the seed decides: nobody can know them before handing in, and the contract covers all of them."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from grader.box.inline import InlineBox
from grader.errors import AuthorError
from grader.exercise.catalog import Catalog
from grader.exercise.drawing import settled
from grader.exercise.spec import CaseSpec, EntrySpec, PartSpec, ReturnSpec
from grader.judge.grade import grade

SEEDS = 200
NAMES = tuple(Catalog.load())
ENTRY = EntrySpec(name="f", kind="function", arguments=("x", "dim", "p"), constructor=("width", "bias"))
PART = PartSpec(entry=ENTRY, returns={"y": ReturnSpec(axes=("time",))})


def drawn(seed: int, **draw: object) -> CaseSpec:
    """Return a case of that name with what the seed decides."""
    return settled(CaseSpec.model_validate({"name": "drawn", "title": "drawn", "draw": draw}), PART, seed)


def test_every_whole_number_of_a_range_is_drawn_and_no_other() -> None:
    """Both ends belong to it."""
    times = Counter(drawn(seed, time="4..9").sizes["time"] for seed in range(600))

    assert sorted(times) == [4, 5, 6, 7, 8, 9]
    assert min(times.values()) > 50


def test_a_size_can_be_made_of_those_before_it() -> None:
    """Products and sums of them, and as an end of a range."""
    for seed in range(50):
        sizes = drawn(seed, heads="2..4", head="1..3", width="heads*head+1", time="width..20").sizes

        assert sizes["width"] == sizes["heads"] * sizes["head"] + 1
        assert sizes["width"] <= sizes["time"] <= 20


def test_values_of_a_list_become_arguments_of_the_call_or_of_the_constructor() -> None:
    """By their names; a whole number is a size as well, since others may be made of it."""
    seen = [drawn(seed, dim=[0, -1], bias=[True, False], p=[0.5]) for seed in range(40)]

    assert {case.arguments["dim"] for case in seen} == {0, -1}
    assert {case.constructor["bias"] for case in seen} == {True, False}
    assert all(case.arguments["p"] == 0.5 for case in seen)


def test_leading_axes_are_drawn_one_by_one() -> None:
    """Else a table of two leading axes would always be square."""
    sizes = [drawn(seed, **{"...": ["2..5", "2..5"]}).sizes["..."] for seed in range(60)]

    assert len({tuple(one) for one in sizes if isinstance(one, list)}) > 12


def test_a_failed_check_says_what_was_drawn(catalog: Catalog) -> None:
    """A student has to know in which sizes the code was wrong. The names of checks are the same for all seeds."""
    wrong = "import torch\n\n\ndef simple_attention(x):\n    return x, x @ x.mT\n"
    reports = [grade(catalog["simple_attention"], wrong, seed=seed, box=InlineBox()) for seed in (1, 2)]
    told = [check.message for report in reports for check in report.checks if check.name.startswith("sizes drawn")]

    assert [check.name for check in reports[0].checks] == [check.name for check in reports[1].checks]
    assert all(re.match(r"with `x` of shape \(\d+, \d+\): ", message) for message in told)
    assert len(set(told)) == 2


@pytest.mark.parametrize(("asked", "told"), [("9..4", "9..4"), ("other", "`other` has no size")])
def test_a_draw_that_cannot_be_is_refused(asked: str, told: str) -> None:
    """The message names what is wrong with it."""
    with pytest.raises(AuthorError, match=told):
        drawn(1, time=asked)


@pytest.mark.parametrize("name", NAMES)
def test_each_exercise_scores_sizes_that_nobody_knows(catalog: Catalog, name: str) -> None:
    """Each part that is scored has a case with many sizes, and the reference accepts all of them."""
    exercise = catalog[name]
    open_cases = [case for case in exercise.spec.cases if case.draw]
    paid = {case for check in exercise.spec.checks if check.points and check.check == "values" for case in check.cases}

    assert {case.part for case in open_cases} >= {""}
    assert {case.name for case in open_cases} <= paid
    for case in open_cases:
        found = {exercise.draw(case, seed).drawn for seed in range(SEEDS)}
        assert len(found) > SEEDS // 4, found
