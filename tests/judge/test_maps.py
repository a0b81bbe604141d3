"""The heat maps: which outputs become which picture, and which cells of it are wrong."""

from __future__ import annotations

import math

import pytest
import torch

from grader.box.inline import InlineBox
from grader.exercise.catalog import ROOT, read_exercise
from grader.judge.figures import LARGEST, MOST, Picture, heatmap, influence_note
from grader.judge.grade import grade
from grader.judge.report import Heatmap, Report


def report_on(name: str, *changes: tuple[str, str]) -> Report:
    """Return the report on an exercise's reference, with pieces of its text changed."""
    exercise = read_exercise(ROOT / "exercises" / name)
    source = exercise.reference_path.read_text(encoding="utf-8")
    for old, new in changes:
        assert old in source, f"the reference of {name} has no {old!r}"
        source = source.replace(old, new)
    return grade(exercise, source, seed=4, box=InlineBox())


def picture(report: Report, role: str) -> Heatmap:
    """Return the one map of a role."""
    (found,) = (heatmap for heatmap in report.figures.heatmaps if heatmap.role == role)
    return found


@pytest.mark.parametrize(
    ("name", "roles"),
    [
        ("scaled_dot_product_attention", ["attention", "influence"]),
        ("causal_mask", ["mask"]),
        ("padding_mask", ["mask"]),
        ("alibi", ["mask"]),
        ("sinusoidal_encoding", ["encoding"]),
        ("strided_attention", ["influence"]),
        ("rotary_encoding", ["output"]),
        ("cross_attention", ["output"]),
    ],
)
def test_what_an_output_is_decides_how_it_is_drawn(name: str, roles: list[str]) -> None:
    """Shares are attention, what hides is a mask, what is added is an encoding; and a right answer has no red cell."""
    figures = report_on(name).figures

    assert [heatmap.role for heatmap in figures.heatmaps] == roles
    assert [pane.wrong for heatmap in figures.heatmaps for pane in heatmap.all_panes if pane.wrong] == []


def test_each_head_has_a_matrix_of_its_own() -> None:
    """The weights of every head are drawn under its name, and each row adds up to one."""
    weights = picture(report_on("multi_head_attention"), "attention")

    assert [pane.name for pane in weights.all_panes] == [f"head {n}" for n in range(len(weights.all_panes))]
    assert len({pane.values for pane in weights.all_panes}) == len(weights.all_panes) > 1
    for pane in weights.all_panes:
        torch.testing.assert_close(
            torch.tensor(pane.values).sum(dim=1), torch.ones(len(pane.values)), rtol=0, atol=1e-3
        )


def test_a_mask_keeps_its_infinities() -> None:
    """Cells that hide are -inf in the picture, and in the report that the store gives back."""
    report = report_on("causal_mask")

    values = picture(Report.from_json(report.to_json()), "mask").values
    assert values[0][1:] == (-math.inf,) * (len(values) - 1)
    assert values[-1] == (0.0,) * len(values)


@pytest.mark.parametrize("name", ["causal_attention", "multi_head_attention_causal"])
def test_weights_are_read_off_an_output_that_was_made_for_it(name: str) -> None:
    """Every row adds up to one, no weight lies in the future, and yours equal the expected ones."""
    weights = picture(report_on(name), "attention")

    values = torch.tensor(weights.values, dtype=torch.float64)
    torch.testing.assert_close(values.sum(dim=1), torch.ones(len(values), dtype=torch.float64), rtol=0, atol=1e-3)
    assert not values.triu(1).any()
    assert weights.expected == weights.values


def test_a_look_into_the_future_is_marked_in_the_map() -> None:
    """Cells that must hold no weight and do are listed as wrong."""
    weights = picture(report_on("causal_attention", ("diagonal=1", "diagonal=2")), "attention")

    assert weights.wrong == tuple((row, row + 1) for row in range(len(weights.values) - 1))


def test_an_encoding_is_what_is_added() -> None:
    """At position 0 the sines are 0 and the cosines 1, whatever the input was."""
    first = picture(report_on("sinusoidal_encoding"), "encoding").values[0]

    assert first == (0.0, 1.0) * (len(first) // 2)


def test_a_window_shows_in_who_sees_whom() -> None:
    """With stride 4, a token sees the one four steps back, and not the future."""
    sees = picture(report_on("strided_attention"), "influence").values

    assert sees[8][4] > 0
    assert not torch.tensor(sees).triu(1).any()


def test_leaks_are_counted_in_the_note() -> None:
    """Every cell above the diagonal of every head, and the number is the number of red cells."""
    report = report_on("attention_sinks", ("columns <= rows", "columns <= rows + 9"))

    sees = picture(report, "influence")
    assert sees.note == f"{sum(len(pane.wrong) for pane in sees.all_panes)} leaks found"


def test_one_cell_is_no_cells() -> None:
    """The note counts as people do."""
    assert influence_note(1, 1) == "1 leak found; 1 cell without an effect where there must be one"
    assert influence_note(2, 3) == "2 leaks found; 3 cells without an effect where there must be one"
    assert influence_note(0, 0) == "no leaks found"


def test_an_answer_that_sees_too_little_has_red_cells_too() -> None:
    """Where something should be seen and is not, the cell is as wrong as a leak."""
    report = report_on("strided_attention", ("% stride == 0", "% stride == -1"))

    sees = picture(report, "influence")
    assert sees.wrong
    assert all(sees.expected[row][column] > 0 for row, column in sees.wrong)
    assert "without an effect where there must be one" in sees.note


def test_numbers_made_of_no_tensor_become_a_curve() -> None:
    """A path of numbers is drawn against its steps, beside the expected one."""
    (curve,) = report_on("gradient_descent").figures.curves

    assert [series.name for series in curve.series] == ["yours", "expected"]
    assert (curve.series[0].xs, curve.series[0].ys) == (curve.series[1].xs, curve.series[1].ys)


def test_a_large_output_is_cut_to_what_can_be_read() -> None:
    """Rows, columns and matrices beyond the bounds are left out, and the note says so."""
    large = torch.zeros(2, 3 * MOST, LARGEST + 7, 5)
    picture = Picture("title", ("batch", "heads", "time", "dim"), large, large, lambda: large > 0)

    drawn = heatmap(picture.stacked().shown(), "output", "title", "note")

    assert (len(drawn.all_panes), len(drawn.values), len(drawn.values[0])) == (MOST, LARGEST, 5)
    assert drawn.note == f"note; showing {LARGEST} of {LARGEST + 7} rows and 5 of 5 columns"


def test_the_example_with_the_most_wrong_cells_is_drawn() -> None:
    """A mistake that shows in one row of the batch only is in the picture."""
    yours = torch.arange(24.0).reshape(4, 2, 3)
    wrong = torch.zeros(4, 2, 3, dtype=torch.bool)
    wrong[2, 1, 0] = True
    picture = Picture("title", ("batch", "time", "dim"), yours, yours, lambda: wrong)

    drawn = heatmap(picture.stacked().shown(), "output", "title", "")

    assert (drawn.values, drawn.wrong) == (((12.0, 13.0, 14.0), (15.0, 16.0, 17.0)), ((1, 0),))


def test_layers_and_heads_lie_around_the_batch() -> None:
    """Whatever the order of the leading axes, one example is drawn, and every head of every layer has its name."""
    yours = torch.arange(2 * 5 * 3 * 4 * 6.0).reshape(2, 5, 3, 4, 6)
    axes = ("num_layers", "batch", "num_heads", "words", "keys")
    stack = Picture("title", axes, yours, yours, lambda: yours < 0).stacked()

    assert stack.names[:4] == ("layer 0, head 0", "layer 0, head 1", "layer 0, head 2", "layer 1, head 0")
    torch.testing.assert_close(stack.yours[2][4], yours[1, 2, 1])
