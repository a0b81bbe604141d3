"""Where an answer begins to differ: real wrong code, through the sandbox, that no known mistake explains."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.located import judged, location, outcome_of, written
from grader.box.cancel import CancelToken
from grader.box.inline import InlineBox
from grader.box.run import Box
from grader.cli.grade import to_line
from grader.cli.text import body
from grader.errors import Stopped
from grader.exercise.catalog import ROOT, Catalog
from grader.exercise.steps import Node
from grader.judge.grade import grade
from grader.judge.report import Location, Report
from grader.pages.render import causes
from grader.pytest_plugin import _cause
from tests.judge.wrong_in_parts import ATTENTION, HEADS, change, located

_CASES = {
    "an epsilon that is far too large": (
        change(ATTENTION, ("/ total", "/ (total + 0.3)")),
        ("normalise", 17, "do not add up to one along each row"),
    ),
    "scaled by another number, within the queries": (
        change(ATTENTION, ("q.shape[-1] ** 0.5", "(q.shape[-1] + 3)")),
        ("scale", 12, "0.2857 times the reference's"),
    ),
    "a mask that begins two late": (
        change(ATTENTION, ("triu(1)", "triu(3)")),
        ("hide_future", 14, "places that must be -inf"),
    ),
    "values from the end": (
        change(ATTENTION, ("weights @ v", "weights @ v.flip(1)")),
        ("CausalAttention.project", 18, "the reference's numbers in different places"),
    ),
}


@pytest.mark.parametrize(("source", "told"), _CASES.values(), ids=_CASES)
def test_the_first_step_that_differs_is_told(
    catalog: Catalog, box: Box, source: str, told: tuple[str, int, str]
) -> None:
    """The step, the line, and in what way its numbers differ."""
    report = grade(catalog["causal_attention"], source, seed=1, box=box)

    assert report.diagnosis == ()
    assert report.location is not None
    assert (report.location.step, report.location.line) == told[:2]
    assert told[2] in report.location.message


def test_what_is_said_holds_of_the_case_that_it_names(catalog: Catalog, box: Box) -> None:
    """Heads split in the wrong order, and scores scaled by another number: with one head, the first would not show."""
    source = change(HEADS, ("width**0.5", "(width + 3)"))

    report = grade(catalog["causal_self_attention"], source, seed=1, box=box)

    assert report.location is not None
    assert (report.location.step, report.location.line) == ("split", 16)
    assert "“five tokens, three heads”" in report.location.message
    assert "the reference's numbers in different places" in report.location.message


def test_a_right_answer_gets_no_location_and_a_named_mistake_its_line(catalog: Catalog) -> None:
    """Who gets full marks needs none; beside a known mistake stands the line where it shows first."""
    exercise = catalog["causal_attention"]
    unscaled = change(ATTENTION, (" / q.shape[-1] ** 0.5", ""))

    right = grade(exercise, ATTENTION, seed=1, box=InlineBox())
    named = grade(exercise, unscaled, seed=1, box=InlineBox())

    assert (right.score, right.location) == (100.0, None)
    assert [one.mistake for one in named.diagnosis] == ["no_scaling"]
    assert named.location is not None
    assert named.location.title == f"A step is missing after line {named.location.line}, or changes nothing"


def test_code_of_another_kind_is_told_nothing_untrue(catalog: Catalog) -> None:
    """An answer whose numbers are none of the reference's gets no location at all."""
    other = "def softmax(x, dim=-1):\n    y = x.sin() + 3\n    return y / y.cumsum(dim)\n"

    assert grade(catalog["softmax"], other, seed=1, box=InlineBox()).location is None


def test_outputs_that_are_all_zero_show_nothing(catalog: Catalog) -> None:
    """Zeros for what is not a number: many steps with other numbers would lead to them, so none of these is named."""
    exercise = catalog["self_attention_linear"]
    wrong = next(one for one in written(exercise) if one.mistake.name == "not_a_number_made_zero")
    outcome = outcome_of(exercise, wrong.text)

    said = judged(exercise, wrong, location(exercise, wrong.text, outcome), outcome)

    assert said in ("silent", "right numbers only")


def test_a_right_result_that_is_changed_is_told_by_the_step_that_made_it(catalog: Catalog) -> None:
    """Not by a step that merely passes its numbers on, such as a dropout in evaluation mode."""
    twice = change(ATTENTION, ("weights @ v", "weights.softmax(-1) @ v"))

    told = located(catalog["causal_attention"], twice)

    assert told is not None
    assert told.title.startswith("A right result is changed, or not used")
    assert "“Turn each query's scores into weights" in told.message


_EXTRA = """
import torch
from torch import nn
class AdditiveAttention(nn.Module):
    def __init__(self, encoder_dim, decoder_dim, hidden_dim):
        super().__init__()
        self.W1 = nn.Linear(encoder_dim, hidden_dim, bias=False)
        self.W2 = nn.Linear(decoder_dim, hidden_dim, bias=False)
        self.v = nn.Linear(hidden_dim, 1, bias=False)
        self.bias = nn.Parameter(torch.rand(hidden_dim) / 10)
    def forward(self, encoder_outputs, decoder_hidden):
        both = self.W1(encoder_outputs) + self.W2(decoder_hidden).unsqueeze(1)
        scores = self.v(torch.tanh(both + self.bias)).squeeze(-1)
        weights = torch.softmax(scores, dim=-1)
        return (weights.unsqueeze(1) @ encoder_outputs).squeeze(1), weights
"""


def test_a_parameter_that_the_exercise_does_not_have_is_the_cause_where_it_is_used(catalog: Catalog) -> None:
    """A right sum to which such a parameter is added is changed; that says less than what was added."""
    told = grade(catalog["additive_attention"], _EXTRA, seed=0, box=InlineBox()).location

    assert told is not None
    assert (told.title, told.line) == ("`self.bias` is a parameter that the exercise does not have: see line 13", 13)
    assert "`self.bias` is no weight of the exercise, so it kept your initial values" in told.message


def test_a_table_that_is_a_parameter_is_not_to_be_left_out(catalog: Catalog) -> None:
    """It is what the exercise asks for, kept in the wrong way; here the numbers are wrong for another reason."""
    exercise = catalog["sinusoidal_encoding"]
    source = (exercise.folder / "examples" / "wrong_parameter.py").read_text(encoding="utf-8")
    told = grade(exercise, source.replace("x + self", "x * 3 + self"), seed=0, box=InlineBox()).location

    assert told is not None
    assert told.title.startswith("`self.pe` is a parameter that the exercise does not have: see line")
    assert "Store fixed numbers in a buffer (`register_buffer`)" in told.message


_ORDER = """
import torch
from torch import nn
class MultiplicativeAttention(nn.Module):
    def __init__(self, encoder_dim, decoder_dim, method="general"):
        super().__init__()
        if method not in ("dot", "general", "concat"):
            raise ValueError(method)
        self.method, width = method, encoder_dim + decoder_dim if method == "concat" else encoder_dim
        if method != "dot":
            self.W = nn.Linear(width, decoder_dim, bias=False)
        if method == "concat":
            self.v = nn.Parameter(torch.rand(decoder_dim))
    def forward(self, e, h):
        if self.method == "concat":
            both = torch.cat([h[:, None].expand(-1, e.shape[1], -1), e], dim=-1)
            scores = torch.tanh(self.W(both)) @ self.v
        else:
            scores = ((e if self.method == "dot" else self.W(e)) @ h.unsqueeze(-1)).squeeze(-1)
        weights = torch.softmax(scores, dim=-1)
        return (weights.unsqueeze(1) @ e).squeeze(1), weights
"""


def test_a_step_that_hands_on_a_name_is_not_looked_for(catalog: Catalog) -> None:
    """The reference checks its `method` and returns it; no numbers of an answer could show that."""
    told = grade(catalog["multiplicative_attention"], _ORDER, seed=0, box=InlineBox()).location

    assert told is not None
    assert (told.step, told.title) == ("join", "Your results become wrong at line 16")
    assert "No result of your code equals" not in told.message


def test_the_search_can_be_stopped(catalog: Catalog) -> None:
    """Whoever is not waited for any more ends it."""
    exercise, source = catalog["causal_attention"], next(iter(_CASES.values()))[0]
    cancel = CancelToken()
    outcome = outcome_of(exercise, source)
    cancel.cancel()

    with pytest.raises(Stopped):
        location(exercise, source, outcome, cancel=cancel)


_SAMPLE = {
    "causal_attention": (
        "softmax_over_queries",
        "keys_and_values_swapped",
        "hides_the_past",
        "no_scaling",
    ),
    "multi_head_attention": ("keys_ask_queries", "no_output_projection", "adds_the_values"),
    "multi_head_attention_causal": ("keys_and_values_swapped", "not_a_number_made_zero"),
    "causal_self_attention": ("weights_transposed", "keys_meet_keys"),
    "kv_cache": ("no_scaling", "scaled_by_half_the_width"),  # its steps run once for each chunk
    "simple_attention": ("distances_for_products", "softmax_of_the_softmax", "shifted_by_the_largest_of_all"),
}


@pytest.mark.parametrize(("name", "mistake"), [(name, one) for name, wrong in _SAMPLE.items() for one in wrong])
def test_a_known_mistake_is_located_where_it_was_put(catalog: Catalog, name: str, mistake: str) -> None:
    """Written into the reference's source, it is found in its step; `python -m benchmarks located` tries all."""
    exercise = catalog[name]
    wrong = next((one for one in written(exercise) if one.mistake.name == mistake), None)
    assert wrong is not None
    outcome = outcome_of(exercise, wrong.text)

    assert judged(exercise, wrong, location(exercise, wrong.text, outcome), outcome) == "true"


def test_every_step_of_a_reference_says_what_it_does(catalog: Catalog) -> None:
    """The sentence about a step quotes the first line of its docstring."""
    untold = [(name, step) for name in catalog for step, title in catalog[name].steps().titles.items() if not title]

    assert untold == []


def test_a_step_can_be_given_other_numbers(catalog: Catalog) -> None:
    """What follows from them is computed by the reference as it is."""
    steps = catalog["simple_attention"].steps()
    x = next(iter(catalog["simple_attention"].cases(1).values())).arguments["x"]

    right = steps.watch(lambda: steps.namespace["simple_attention"](x)).values
    node = Node("normalise")
    doubled = steps.watch(lambda: steps.namespace["simple_attention"](x), {node: right[node] * 2}).values

    assert (doubled[Node("mix")] - right[Node("mix")] * 2).abs().max() < 1e-12
    assert (doubled[Node("scores_of")] == right[Node("scores_of")]).all()


def test_a_location_is_shown_everywhere_and_read_back() -> None:
    """The page, the terminal, pytest and JSON have it; a report from before has none."""
    told = Location("scale", "Your results become wrong at line 3", "They <b>are</b> 4 times.\n\nSo it is.", 3)
    report = replace(grade_of_nothing(), location=told)

    assert Report.from_json(report.to_json()) == report
    before = report.to_json().replace('"location":', '"elsewhere":')
    assert Report.from_json(before).location is None
    assert [one["title"] for one in causes(report)] == [told.title]
    assert any(told.title in line.plain for line in body(report))
    assert any(told.title in line for line in _cause(report))
    assert '"line": 3' in to_line(ROOT / "answer.py", report)


def grade_of_nothing() -> Report:
    """Return a report that says nothing yet."""
    return grade(Catalog.load()["softmax"], "def softmax(x, dim=-1):\n    return x", seed=1, box=InlineBox())
