"""The steps beside each other: what is right, what differs first, and what comes of it, as the answer has it."""

from __future__ import annotations

import json

import pytest
import torch
from torch import Tensor

from grader.box.inline import InlineBox
from grader.cli.grade import to_line
from grader.exercise.catalog import ROOT, Catalog
from grader.judge.explain.wording import LARGEST_STAGE, MOST_STAGES, differs
from grader.judge.grade import grade
from grader.judge.report import Location, Matrix, Report, StepSeen
from tests.judge.wrong_in_parts import ATTENTION, HEADS, change

LATE = change(ATTENTION, ("triu(1)", "triu(3)"))
WIDE = change(ATTENTION, ("q.shape[-1] ** 0.5", "(q.shape[-1] + 3)"))


def graded(exercise: str, source: str) -> tuple[Report, Location]:
    """Return the report on a wrong answer, and where it begins to differ."""
    report = grade(Catalog.load()[exercise], source, seed=1, box=InlineBox())
    assert report.location is not None
    return report, report.location


def told(exercise: str, source: str) -> dict[str, StepSeen]:
    """Return the stages of a wrong answer by their names."""
    _, location = graded(exercise, source)
    assert len({stage.name for stage in location.stages}) == len(location.stages)
    return {stage.name: stage for stage in location.stages}


def tensor(numbers: Matrix) -> Tensor:
    """Return the numbers of a stage."""
    return torch.tensor(numbers, dtype=torch.float64)


def test_the_first_step_that_differs_is_marked_and_what_is_before_it_is_right() -> None:
    """Each with its line; the cells that differ are those where the mask comes too late."""
    seen = told("causal_attention", LATE)

    assert [(name, stage.standing, stage.place) for name, stage in seen.items()] == [
        ("queries", "right", "line 11"),
        ("keys", "right", "line 11"),
        ("values", "right", "line 11"),
        ("scores", "inside", ""),
        ("scaled", "right", "line 12"),
        ("masked", "first", "line 14"),
        ("weights", "follows", "line 17"),
        ("output", "follows", "line 18"),
    ]
    late = tensor(seen["masked"].yours).isfinite() & ~tensor(seen["masked"].expected).isfinite()
    assert set(seen["masked"].wrong) == {tuple(cell) for cell in late.nonzero().tolist()} != set()
    assert seen["scaled"].yours == seen["scaled"].expected


@pytest.mark.parametrize("source", [LATE, WIDE], ids=["a late mask", "another scale"])
def test_what_follows_is_what_the_answer_computes_from_its_own_numbers(source: str) -> None:
    """Its weights are the softmax of its own scores, its output the sum of its values with these weights."""
    seen = told("causal_attention", source)
    masked, weights, values = (tensor(seen[name].yours) for name in ("masked", "weights", "values"))

    assert torch.allclose(masked.softmax(dim=-1), weights, rtol=0, atol=1e-4)
    assert torch.allclose(weights @ values, tensor(seen["output"].yours), rtol=0, atol=1e-3)
    right = tensor(seen["masked"].expected).softmax(dim=-1)
    assert torch.allclose(right, tensor(seen["weights"].expected), rtol=0, atol=1e-4)
    assert not torch.allclose(right, weights, rtol=0, atol=1e-2)


def test_arguments_are_given_and_a_masked_place_needs_no_infinity() -> None:
    """Of a function the queries, keys and values come first; -1e9 where -inf is expected is no cell that differs."""
    folder = ROOT / "exercises" / "scaled_dot_product_attention" / "examples"
    seen = told("scaled_dot_product_attention", (folder / "wrong_softmax_over_queries.py").read_text(encoding="utf-8"))
    hidden, expected = torch.tensor([[0.5, -1e9]]), torch.tensor([[0.5, -torch.inf]])

    assert [seen[name].standing for name in ("queries", "keys", "values")] == ["given"] * 3
    assert (seen["scores"].standing, seen["weights"].standing) == ("right", "first")
    assert not differs(hidden, expected, 1e-9).any()
    assert differs(torch.tensor([[0.5, -20.0]]), expected, 1e-9).tolist() == [[False, True]]


def test_the_head_that_is_furthest_off_is_shown() -> None:
    """All stages are of one head: scores are the products of the queries and keys beside them."""
    _, location = graded("causal_self_attention", change(HEADS, ("width**0.5", "(width + 3)")))
    seen = {stage.name: stage for stage in location.stages}
    scores = tensor(seen["queries"].expected) @ tensor(seen["keys"].expected).T

    assert torch.allclose(scores, tensor(seen["scores"].expected), rtol=0, atol=1e-3)
    assert location.case == "five tokens, three heads"


def test_stages_are_small_and_are_read_back() -> None:
    """Ten stages of ten by ten numbers at most, so that a report stays small; JSON keeps infinities.

    The command line's line of JSON has none of them, for JSON itself lacks infinities.
    """
    report, location = graded("causal_attention", LATE)
    stages = location.stages

    assert 0 < len(stages) <= MOST_STAGES
    assert max(len(stage.expected) for stage in stages) <= LARGEST_STAGE
    assert max(len(row) for stage in stages for row in stage.expected) <= LARGEST_STAGE
    assert Report.from_json(report.to_json()).location == location
    assert list(json.loads(to_line(ROOT / "answer.py", report))["location"]) == ["step", "title", "message", "line"]
