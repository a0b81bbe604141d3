"""Pictures as the browser draws them: colours, hatching, axes."""

import json
import math
import re

import pytest

from grader.judge.report import Curve, Heatmap, Pane, Series
from grader.pages import statement
from grader.pages.pictures import Scale, curve_view, map_view
from grader.pages.wording import pack
from tests.pages.samples import failed_report

INF = math.inf


def drawn(role, values, expected, **more):
    """Return the view of a heat map."""
    return map_view(Heatmap(role, "title", "query", "key", values, expected, **more))


def test_heat_maps_carry_both_matrices_and_the_wrong_cells():
    """Of every head, yours, the expected one and the framed cells reach the page unchanged."""
    view = json.loads(pack(map_view(failed_report().figures.heatmaps[0])))

    first, second = view["panes"]
    assert (first["values"], first["expected"], first["wrong"]) == ([[1.0, 0.5]], [[1.0, 0.0]], [[0, 1]])
    assert (second["values"], second["expected"], second["wrong"]) == ([[0.5, 0.5]], [[1.0, 0.0]], [[0, 1]])
    assert view["summary"] == "2 cells wrong, framed in red."


def test_what_json_has_no_number_for_is_a_word():
    """Infinity and NaN reach the page and do not become zeros."""
    view = drawn("mask", ((0.0, -INF), (math.nan, INF)), ((0.0, -INF), (0.0, 0.0)))

    assert json.loads(pack(view))["panes"][0]["values"] == [[0.0, "-inf"], ["nan", "inf"]]


@pytest.mark.parametrize(
    ("role", "expected", "hatched"),
    [
        ("attention", ((1.0, 0.0),), "expected"),
        ("attention", ((0.5, 0.5),), ""),
        ("influence", ((0.3, 0.0),), "expected"),
        ("mask", ((0.0, -INF),), "-inf"),
        ("mask", ((1.0, 0.0),), "zero"),
        ("output", ((1.0, 0.0),), ""),
    ],
)
def test_cells_that_hide_are_hatched(role, expected, hatched):
    """Weights and influence by what is expected, masks by what they hold; other numbers hide nothing."""
    view = drawn(role, expected, expected)

    assert view["hatched"] == hatched
    assert bool(view["legend"]) == bool(hatched)


@pytest.mark.parametrize(
    ("role", "values", "ends"),
    [
        ("attention", ((0.25, 0.75),), (0.0, 1.0)),
        ("attention", ((-0.25, 1.25),), (0.0, 1.0)),
        ("influence", ((0.25, 3.0),), (0.0, 3.0)),
        ("mask", ((0.0, -2.5),), (-2.5, 2.5)),
        ("encoding", ((0.0, 1.0),), (-1.0, 1.0)),
    ],
)
def test_colours_span_what_the_numbers_do(role, values, ends):
    """Weights from 0 to 1, wrong ones too; sizes from 0, and what has a sign around 0."""
    view = drawn(role, values, values)

    assert (view["least"], view["most"]) == ends


def test_a_trained_model_has_nothing_to_be_compared_with():
    """Without an expected matrix the page says nothing about right and wrong."""
    view = drawn("attention", ((0.0, 1.0),), (), panes=(Pane("head 1", ((1.0, 0.0),), ()),))

    assert (view["summary"], view["hatched"], view["panes"][1]["expected"]) == ("", "", [])


def test_a_curve_over_decades_is_logarithmic():
    """Memory that grows with the square and memory that does not are both seen."""
    view = curve_view(Curve("Memory", "time", "elements", (Series("yours", (128.0, 256.0), (1e3, 1e6)),)))

    assert view["y"]["log"]
    assert not view["x"]["log"]


def test_a_curve_stands_on_zero_where_it_can():
    """A loss from 2 to 0.5 has its axis from 0 on, and the level to be reached lies within."""
    view = curve_view(Curve("Loss", "step", "loss", (Series("yours", (1.0, 2.0), (2.0, 0.5)),), bound=3.0))

    assert (view["y"]["least"], view["y"]["most"], view["x"]["least"]) == (0.0, 3.0, 1.0)
    assert view["summary"] == "yours: from 2 to 0.5"


@pytest.mark.parametrize(
    ("values", "scale"),
    [
        ([0.0, 1.0], Scale(0.0, 1.0)),
        ([-3.0, 4.0], Scale(-3.0, 4.0)),
        ([1.0, 19.0], Scale(1.0, 19.0)),
        ([1.0, 100.0], Scale(1.0, 100.0, log=True)),
        ([5.0, 5.0], Scale(4.5, 5.5)),
        ([], Scale(0.0, 1.0)),
    ],
)
def test_an_axis_has_a_length(values, scale):
    """Whatever the numbers span; over decades it is logarithmic."""
    assert Scale.of(values, around_zero=False) == scale


def test_a_matrix_of_numbers_in_a_statement_is_shaded():
    """By its share of the largest, negative ones in another colour, infinite ones hatched, dots not at all."""
    html = statement.to_html(r"$$\begin{pmatrix} 1/2 & -1 \\ -\infty & \vdots \end{pmatrix}$$")

    found = re.findall(r'<mtd class="([\w -]*)">', html)
    assert found == ["gym-shade-2", "gym-shade-5 gym-below", "gym-hatch", "gym-shade-0"]


@pytest.mark.parametrize(
    "inside", [r"x & 1 \\ 2 & 3", r"\frac{1}{2} & 1 \\ 0 & 0", r"1 \\ 2", "1 & 2", r"1 & 1 \\ 1 & 1"]
)
def test_what_is_no_matrix_of_numbers_is_not_shaded(inside):
    """Letters, fractions that are stacked, a single row or column, and a matrix whose numbers are all the same."""
    assert "<mtd class" not in statement.to_html(rf"$$\begin{{pmatrix}} {inside} \end{{pmatrix}}$$")
