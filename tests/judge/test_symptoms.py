"""What is said of wrong answers whose fault is in no step's numbers: each has its line, and it is the right one."""

from __future__ import annotations

import pytest

from benchmarks.located import outcome_of
from grader.box.inline import InlineBox
from grader.exercise.catalog import ROOT, Catalog
from grader.judge.explain.budget import Effort
from grader.judge.explain.diagnosis import causes
from grader.judge.grade import grade
from grader.judge.report import Location
from tests.judge.wrong_in_parts import located

_TOLD = {
    "causal_weights/wrong_cached_mask": (10, "keeps state from one call to the next"),
    "cross_attention/wrong_keeps_the_first_answers": (22, "keeps state from one call to the next"),
    "softmax/wrong_no_keepdim": (6, "fails at line 6"),
    "causal_weights/wrong_buffer_of_16": (9, "fails at line 9"),
    "scaled_dot_product_attention/wrong_no_mask_argument": (5, "is not what the exercise asks for"),
    "self_attention_linear/wrong_bias_flag_ignored": (8, "`W_query`, created at line 8"),
    "multi_head_attention_causal/wrong_output_without_bias": (17, "`out_proj`, created at line 17"),
    "softmax/wrong_half_inside": (6, "does not match the exercise: see line 6"),
    "attention_dropout/wrong_fill_minus_inf": (10, "NaN first appears at line 10"),
    "self_attention_parameters/wrong_dropout_in_training": (19, "Training mode changes your results"),
    "softmax/wrong_tiny_epsilon": (9, "Your results become wrong"),
    "softmax/wrong_clamped_exponents": (6, "A wrong gradient reaches"),
    "scaled_dot_product_attention/wrong_no_grad": (7, "The gradient is cut at line 7 and line 11"),
    "self_attention_parameters/wrong_no_grad_parameters": (13, "No gradient goes from line 13 to `W_query`"),
    "causal_attention/wrong_past_detached": (21, "The gradient is cut at line 21"),
    "multiplicative_attention/wrong_changes_the_state": (34, "writes into an argument"),
    "multiplicative_attention/wrong_asserts_the_method": (10, "raises another exception than it must"),
}


def _located(catalog: Catalog, name: str) -> Location | None:
    folder, _, stem = name.partition("/")
    return located(catalog[folder], (catalog[folder].folder / "examples" / f"{stem}.py").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("name", "told"), _TOLD.items(), ids=_TOLD)
def test_what_is_wrong_is_told_with_its_line(catalog: Catalog, name: str, told: tuple[int, str]) -> None:
    """A line of the file, and in a few words what was seen of it."""
    found = _located(catalog, name)

    assert found is not None
    assert (found.line, told[1] in found.title) == (told[0], True), found
    assert len(found.message) < 500


def test_nothing_is_said_of_what_is_computed_from_the_result_itself(catalog: Catalog) -> None:
    """The numbers that get no gradient are returned, so nothing is computed from them; the cut is before them."""
    returned = _located(catalog, "scaled_dot_product_attention/wrong_no_grad")

    assert returned is not None
    assert "computed from them" not in returned.message


def test_training_mode_is_not_blamed_where_evaluation_is_wrong(catalog: Catalog) -> None:
    """Numbers that are wrong in both modes are no matter of dropout."""
    found = _located(catalog, "relative_position/wrong_two_at_once")

    assert found is not None
    assert "raining" not in found.title + found.message


def test_a_saturated_softmax_does_not_hide_what_was_added(catalog: Catalog) -> None:
    """Where nothing shows in the output, the numbers nearest to it count: -100 was added, no step is missing."""
    found = _located(catalog, "causal_attention/wrong_additive_100")

    assert found is not None
    assert (found.step, found.line) == ("hide_future", 20)
    assert "missing" not in found.title


def test_two_mistakes_are_looked_for_as_long_as_there_is_effort(catalog: Catalog) -> None:
    """What may be done is counted, so that the same is found on a busy machine; and that it ended is told."""
    exercise = catalog["causal_mask"]
    text = (ROOT / "exercises" / "causal_mask" / "examples" / "wrong_two_at_once.py").read_text(encoding="utf-8")
    outcome = outcome_of(exercise, text)
    none, first, second = Effort(0), Effort(100_000), Effort(100_000)
    lost = grade(exercise, text, seed=1, box=InlineBox()).lost

    assert causes(exercise, outcome, lost, effort=none) == ()
    assert none.spent
    named = causes(exercise, outcome, lost, effort=first)
    assert {one.mistake for one in named} == {"sees_one_ahead", "minus_ten_thousand"}
    assert causes(exercise, outcome, lost, effort=second) == named
    assert first.done == second.done
