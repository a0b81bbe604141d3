"""A statement's Markdown turned into HTML: formulas, shaded matrices, charts, and the places of microscopes.

Formulas become MathML and charts SVG, which browsers draw without any script.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from html import escape, unescape

from latex2mathml.converter import convert
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from mdit_py_plugins.dollarmath import dollarmath_plugin

from grader.errors import AuthorError
from grader.exercise import chart as charts
from grader.exercise import microscope as microscopes
from grader.exercise.chart import Chart, chart
from grader.exercise.microscope import Microscope, microscope
from grader.pages.pictures import Scale
from grader.pages.wording import View, pack

_FUNCTION = re.compile(r"(<mi>(?:ln|log|exp|max|min|sin|cos)</mi>)(?=<m[in])")
_FOLDS = {  # the only markup that is obeyed: an answer that opens on a click
    "<p>&lt;details&gt;&lt;summary&gt;Answer&lt;/summary&gt;</p>": "<details><summary>Answer</summary>",
    "<p>&lt;/details&gt;</p>": "</details>",
}
_ENDED = re.compile(
    r'<span class="math inline">(?:(?!</?span).)*</span>[,.;:!?)]+', re.DOTALL
)  # with the marks right after it
_MARK = re.compile(r"\\(?:begin|end|left|right|qquad|quad)(?![A-Za-z])|\\.|[{}]", re.DOTALL)
_DEPTH = {"{": 1, r"\begin": 1, r"\left": 1, "}": -1, r"\end": -1, r"\right": -1}
_GAPS = (r"\qquad", r"\quad")
_TABLE = re.compile(r"<table>.*?</table>", re.DOTALL)


@cache
def to_html(markdown: str) -> str:
    """Return HTML for Markdown with `$…$` and `$$…$$`; HTML within it is shown as text, but for folded answers."""
    html: str = _reader().render(markdown)
    for written, meant in _FOLDS.items():
        html = html.replace(written, meant)
    html = html.replace("<pre>", '<pre tabindex="0">')  # long lines are scrolled by keys as well
    html = _ENDED.sub(lambda formula: f'<span class="gym-keep">{formula[0]}</span>', html)
    # A table that is wider than a phone scrolls in a box of its own.
    return _TABLE.sub(lambda table: f'<div class="gym-wide" tabindex="0">{table[0]}</div>', html)


@cache
def _reader() -> MarkdownIt:
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    reader.add_render_rule("fence", _block)
    return reader.use(dollarmath_plugin, renderer=_formula, double_inline=True)


def _block(renderer: RendererHTML, tokens: Sequence[Token], place: int, options: OptionsDict, env: EnvType) -> str:
    """Return the HTML of a fenced block: a microscope, a chart, or else code."""
    block = tokens[place]
    draw = {microscopes.FENCE: microscope_html, charts.FENCE: chart_html}.get(block.info.strip())
    return (draw and draw(block.content)) or renderer.fence(tokens, place, options, env)


def _formula(tex: str, options: Mapping[str, bool]) -> str:
    if not options["display_mode"]:
        return _math(tex, "inline")
    # Statements beside each other may go below each other; none of them breaks.
    return f'<div class="gym-formula" tabindex="0">{"".join(_math(one, "block") for one in _statements(tex))}</div>'


def _math(tex: str, display: str) -> str:
    return shaded(_FUNCTION.sub(r'\1<mspace width="0.17em"/>', convert(tex, display=display)))


def _statements(tex: str) -> list[str]:
    """Return the parts of a formula between wide gaps that stand in no brackets and in no environment."""
    found, depth, start = [], 0, 0
    for mark in _MARK.finditer(tex):
        depth += _DEPTH.get(mark[0], 0)
        if mark[0] in _GAPS and depth == 0:
            found.append(tex[start : mark.start()])
            start = mark.end()
    return [part for part in (*found, tex[start:]) if part.strip()]


LEVELS = 5  # of colour beside none
_MATRIX = re.compile(r"<mtable>(?:(?!</?mtable>).)*</mtable>", re.DOTALL)
_CELL = re.compile(r"<mtd>((?:(?!</?mtd>).)*)</mtd>", re.DOTALL)
_TAG = re.compile(r"<[^<>]*>")
_PLAIN = {"<mn>", "</mn>", "<mo>", "</mo>", "<mi>", "</mi>", "<mrow>", "</mrow>", "<mrow />"}
_SIGNS = {**dict.fromkeys("⋮⋯⋱…", 0.0), "\u221e": math.inf, "-\u221e": -math.inf}
_LEAST = 2  # rows, and columns


def shaded(math_ml: str) -> str:
    """Return a formula with a class at each cell of its matrices of numbers: how large it is in its matrix."""
    return _MATRIX.sub(lambda matrix: _matrix(matrix[0]), math_ml)


def _matrix(table: str) -> str:
    numbers = [_cell_number(cell) for cell in _CELL.findall(table)]
    known = [one for one in numbers if one is not None]
    rows = table.count("<mtr>")
    if rows < _LEAST or len(numbers) < _LEAST * rows or len(known) < len(numbers) or len(set(known)) < _LEAST:
        return table
    most = max((abs(one) for one in known if math.isfinite(one)), default=0.0) or 1.0
    left = iter(known)
    return _CELL.sub(lambda cell: f'<mtd class="{_class(next(left), most)}">{cell[1]}</mtd>', table)


def _cell_number(cell: str) -> float | None:
    """Return what a cell holds, as `-1/2` or an infinity; zero for dots, None for what is no number."""
    if set(_TAG.findall(cell)) - _PLAIN:
        return None  # a fraction, a power
    text = unescape(_TAG.sub("", cell)).replace("\u2212", "-").replace(" ", "").strip()
    if text in _SIGNS:
        return _SIGNS[text]
    try:
        return float(Fraction(text))
    except (ValueError, ZeroDivisionError):
        return None


def _class(number: float, most: float) -> str:
    if math.isinf(number):
        return "gym-hatch"
    return f"gym-shade-{round(LEVELS * abs(number) / most)}" + (" gym-below" if number < 0 else "")


_WIDTH, _HEIGHT = 360, 220  # of the drawing; on a phone a unit is about a pixel
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 352, 10, 180  # where the lines lie
_TICKS = 5  # at most, about, on an axis
_DASHES = ("", "6 4", "2 4")  # lines are told apart without colours too
_STEPS = (1.0, 2.0, 5.0, 10.0)


def chart_html(text: str) -> str | None:
    """Return the HTML of a block; None where its text is none, which `exercise check` tells the author."""
    try:
        read = chart(text)
    except AuthorError:
        return None
    names = "".join(
        f'<span><i class="gym-ink-{place}" aria-hidden="true"></i>{escape(name)}</span>'
        for place, name in enumerate(read.lines)
    )
    return f'<figure class="gym-chart">{_svg(read)}<figcaption>{names}</figcaption></figure>\n'


def _svg(read: Chart) -> str:
    wide = Scale.of(read.at, around_zero=False, straight=True)
    high = Scale.of([one for line in read.lines.values() for one in line], around_zero=True, straight=True)
    parts = [
        *_axes(wide, high),
        f'<text x="{_RIGHT}" y="{_HEIGHT - 6}" text-anchor="end">{escape(read.across)}</text>',
        f'<text x="{_LEFT}" y="{_HEIGHT - 6}">{escape(read.up)} ↑</text>',
        *(_line(read.at, line, wide, high, place) for place, line in enumerate(read.lines.values())),
    ]
    said = escape(_said(read), quote=True)
    return f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{said}">{"".join(parts)}</svg>'


def _said(read: Chart) -> str:
    """Return the chart in a sentence: its title, and of each line where it begins and ends."""
    ends = "; ".join(f"{name}: from {line[0]:g} to {line[-1]:g}" for name, line in read.lines.items())
    return f"{read.title}. {read.up} from {read.across} {read.at[0]:g} to {read.at[-1]:g}: {ends}."


def _axes(wide: Scale, high: Scale) -> Iterator[str]:
    for value in _ticks(high):
        y = _place(value, high, _BOTTOM, _TOP)
        kind = "gym-zero" if value == 0 else "gym-grid"
        yield f'<line class="{kind}" x1="{_LEFT}" x2="{_RIGHT}" y1="{y:.1f}" y2="{y:.1f}" />'
        yield f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{_number(value)}</text>'
    for value in _ticks(wide):
        x = _place(value, wide, _LEFT, _RIGHT)
        yield f'<text x="{x:.1f}" y="{_BOTTOM + 18}" text-anchor="middle">{_number(value)}</text>'


def _line(across: tuple[float, ...], up: tuple[float, ...], wide: Scale, high: Scale, place: int) -> str:
    points = " ".join(
        f"{_place(x, wide, _LEFT, _RIGHT):.1f},{_place(y, high, _BOTTOM, _TOP):.1f}"
        for x, y in zip(across, up, strict=True)
    )
    return f'<polyline class="gym-ink-{place}" points="{points}" stroke-dasharray="{_DASHES[place] or "none"}" />'


def _place(value: float, scale: Scale, start: float, end: float) -> float:
    return start + (end - start) * (value - scale.least) / (scale.most - scale.least)


def _ticks(scale: Scale) -> list[float]:
    """Return the round numbers on an axis, some of them."""
    rough = (scale.most - scale.least) / _TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    step = next((one * power for one in _STEPS if one * power >= rough), 10 * power)
    first, last = math.ceil(scale.least / step - 1e-9), math.floor(scale.most / step + 1e-9)
    return [place * step for place in range(first, last + 1)]


def _number(value: float) -> str:
    return f"{value:g}".replace("-", "\u2212")


_LATER = "Here the example can be stepped through, with other numbers too. That needs scripts."


def microscope_html(text: str) -> str | None:
    """Return the HTML of a block; None where its text is none, which `exercise check` tells the author."""
    try:
        read = microscope(text)
    except AuthorError:
        return None
    view = escape(pack(scope_view(read)), quote=True)
    return f'<div class="gym-scope" style="--rows: {_rows(read)}" data-scope="{view}"><p>{_LATER}</p></div>\n'


def scope_view(read: Microscope) -> View:
    """Return what the script starts from; every matrix as a list with one for each head."""
    mask = read.rows_of_mask
    return {
        **read.heads,
        "d_k": read.d_k,
        "mask": mask,
        "mask_on": mask is not None and read.mask_on,
        "show": read.show,
    }


def _rows(read: Microscope) -> int:
    """Return how many rows the larger of the two tables has: one query step by step, or all queries in one step."""
    steps = 2 + (read.d_k is not None) + (read.mask is not None) + 2 * (read.value is not None)
    return 1 + max(steps, read.queries)
