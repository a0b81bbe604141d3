"""Every statement has a picture, and its numbers are computed."""

from __future__ import annotations

import itertools
import re
from html.parser import HTMLParser

import pytest
import torch
from torch import Tensor, nn

from grader.errors import AuthorError
from grader.exercise.catalog import Catalog
from grader.exercise.chart import blocks, chart
from grader.pages.statement import to_html
from tests.exercise.test_try_this import printed, section_of

CATALOG = Catalog.load()
LEAST = 3  # rows, and columns, of a matrix that is a picture
TABLE = re.compile(r"<mtable>(?:(?!</?mtable>).)*</mtable>", re.DOTALL)
MATRIX = re.compile(r"\\begin\{pmatrix\}((?:(?!\\begin).)*?)\\end\{pmatrix\}", re.DOTALL)


def pictures(statement: str) -> list[str]:
    """Return what is drawn in a statement: microscopes, charts, and shaded matrices that are large enough."""
    html = to_html(statement)
    found = re.findall(r'class="(gym-scope|gym-chart)"', html)
    for table in TABLE.findall(html):
        rows, cells = table.count("<mtr>"), table.count('<mtd class="gym-')
        if rows >= LEAST and cells >= LEAST * rows:
            found.append(f"matrix of {rows} rows")
    return found


@pytest.mark.parametrize("id", CATALOG)
def test_every_statement_has_a_picture(id: str) -> None:
    """A microscope, a chart, or a shaded matrix of at least three rows and three columns."""
    assert pictures(CATALOG[id].statement), f"draw one in exercises/{id}/statement.md, as docs/authors.md says"


HEAD = re.compile(r"<th[^>]*>(.*?)</th>", re.DOTALL)
SILENT = re.compile(r"<math.*?</math>|<[^>]*>", re.DOTALL)  # what is not read aloud everywhere


@pytest.mark.parametrize("id", CATALOG)
def test_every_head_of_a_table_has_words(id: str) -> None:
    """A formula alone is read aloud by few screen readers, and an empty head by none."""
    heads = HEAD.findall(to_html(CATALOG[id].statement))

    assert [head for head in heads if not SILENT.sub("", head).strip()] == []


def matrices(id: str) -> list[Tensor]:
    """Return the matrices of numbers of a statement, in their order."""
    found = []
    for inside in MATRIX.findall(CATALOG[id].statement):
        rows = [[_number(cell) for cell in row.split("&")] for row in inside.split(r"\\")]
        if all(one is not None for row in rows for one in row):
            found.append(torch.tensor(rows, dtype=torch.float64))
    return found


def _number(cell: str) -> float | None:
    over, _, under = cell.replace(r"\infty", "inf").strip().partition("/")
    try:
        return float(over) / float(under or 1)
    except ValueError:
        return None


def _additive() -> Tensor:
    """Return the weights of three positions, with a row for each of three states."""
    layer = CATALOG["additive_attention"].reference()()["AdditiveAttention"](1, 1, 1).double()
    for parameter in layer.parameters():
        nn.init.ones_(parameter)
    outputs = torch.tensor([[[-1.0], [1.0], [3.0]]], dtype=torch.float64).expand(3, 3, 1)
    weights: Tensor = layer(outputs, torch.tensor([[1.0], [0.0], [-1.0]], dtype=torch.float64))[1]
    return weights.detach()


def _aligned() -> Tensor:
    return torch.tensor([[float(one) for one in row] for row in printed(section_of("attention_seq2seq"))]).double()


def _linear() -> Tensor:
    """Return the weights by three values of which one is 1, with `causal=True`."""
    attend = CATALOG["linear_attention"].reference()()["linear_attention"]
    query, key = (
        torch.tensor(of, dtype=torch.float64).reshape(1, 1, 3, 1) for of in ([0.0, 1.0, 5.0], [0.0, 2.0, 3.0])
    )
    weights: Tensor = attend(query, key, torch.eye(3, dtype=torch.float64)[None, None], causal=True)
    return weights[0, 0]


def _encoded() -> Tensor:
    table, x = matrices("learned_encoding")[:2]
    return x + table[:3]


def _picked() -> Tensor:
    words = ["Life", "is", "short", "eat", "dessert", "first"]
    return nn.functional.one_hot(torch.tensor([sorted(words).index(word) for word in words])).double()


COMPUTED = {
    "additive_attention": (0, _additive),
    "attention_seq2seq": (0, _aligned),
    "compare_variants": (0, lambda: torch.eye(4).roll(-1, dims=0)),
    "grouped_query_attention": (1, lambda: torch.eye(3).repeat_interleave(2, dim=0)),
    "kv_cache": (0, lambda: torch.full((3, 5), -torch.inf).triu(3)),
    "learned_encoding": (2, _encoded),
    "linear_attention": (2, _linear),
    "sentence_embedding": (1, _picked),
    "weight_transfer": (1, lambda: matrices("weight_transfer")[0].T),
}


@pytest.mark.parametrize("id", COMPUTED)
def test_a_matrix_holds_what_is_computed(id: str) -> None:
    """Every number of it, as far as it is written down."""
    place, compute = COMPUTED[id]

    torch.testing.assert_close(matrices(id)[place], compute().double(), rtol=0, atol=5.1e-5)


def test_the_chart_of_gradient_descent_holds_what_the_reference_gives() -> None:
    """Every point of every line."""
    descend = CATALOG["gradient_descent"].reference()()["gradient_descent"]
    (read,) = map(chart, blocks(CATALOG["gradient_descent"].statement))

    for name, line in read.lines.items():
        points = descend(torch.square, 1.0, float(name.split()[-1]), len(line) - 1)
        assert [f"{one:.4f}" for one in line] == [f"{one:.4f}" for one in points.tolist()], name


PLAIN = 'title = "t"\nacross = "x"\nup = "y"\nat = [0, 1, 2]\n'
WRONG = {
    "no TOML": ("title = ", "is no TOML"),
    "no line": (PLAIN + "[lines]\n", "`lines`"),
    "a point too few": (PLAIN + "[lines]\na = [1, 2]\n", "line `a` has 2 numbers for 3 points"),
    "points that do not rise": (PLAIN.replace("1, 2", "2, 2") + "[lines]\na = [1, 2, 3]\n", "must rise"),
    "infinite": (PLAIN + "[lines]\na = [1, 2, inf]\n", "`lines.a`"),
    "too many lines": (PLAIN + "[lines]\n" + "".join(f"{name} = [1, 2, 3]\n" for name in "abcd"), "`lines`"),
    "a field that there is not": ("colour = 1\n" + PLAIN + "[lines]\na = [1, 2, 3]\n", "`colour`"),
}


@pytest.mark.parametrize(("text", "told"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_with_a_chart_is_told_to_its_author(text: str, told: str) -> None:
    """The field and what is wrong with it; readers see the block as code."""
    with pytest.raises(AuthorError) as raised:
        chart(text)

    assert told in str(raised.value)
    assert "<svg" not in to_html(f"```chart\n{text}```")


class Tags(HTMLParser):
    """Collects the tags and attributes of some HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a tag and the names of its attributes."""
        self.seen |= {tag, *(name for name, _ in attrs)}


def test_markup_in_a_chart_is_text() -> None:
    """Names and titles bring no tag and no attribute into the page."""
    evil = '"><script>alert(1)</script><img src=x onerror=alert(1)>'[:40]
    text = f"title = '{evil}'\nacross = '{evil}'\nup = '{evil}'\nat = [0, 1]\n[lines]\n'{evil}' = [1, 2]\n"
    plain = "title = 't'\nacross = 'x'\nup = 'y'\nat = [0, 1]\n[lines]\na = [1, 2]\n"

    assert Tags(to_html(f"```chart\n{text}```")).seen == Tags(to_html(f"```chart\n{plain}```")).seen


NUMBERS = [(0.0, 0.001), (-3e6, 2e6), (5.0, 5.0), (-1.0, -0.5)]


@pytest.mark.parametrize(("first", "last"), NUMBERS)
def test_a_chart_lies_within_its_drawing(first: float, last: float) -> None:
    """Whatever its numbers span: each point within the axes, and from two to eight numbers beside each axis."""
    html = to_html(f"```chart\n{PLAIN}[lines]\na = [{first}, {last}, {first}]\n```")
    points = re.findall(r'points="([^"]*)"', html)[0].split()
    marks = re.findall(r'text-anchor="(end|middle)"', html)

    assert all(46 <= float(x) <= 352 and 10 <= float(y) <= 180 for x, y in (point.split(",") for point in points))
    assert 2 <= marks.count("middle") <= 8
    assert 2 <= marks.count("end") - 1 <= 8


def test_lines_of_a_chart_are_told_apart_without_colours() -> None:
    """By their dashes; the picture has a name that says where each begins and ends."""
    html = to_html(CATALOG["gradient_descent"].statement)
    dashes = re.findall(r'stroke-dasharray="([^"]*)"', html)

    assert all(one != other for one, other in itertools.combinations(dashes, 2))
    assert len(dashes) == 3
    assert "learning rate 1.1: from 1 to -2.4883" in html
