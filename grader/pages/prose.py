"""Markdown with formulas, turned into HTML: formulas become MathML, which browsers draw without any script."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache

from latex2mathml.converter import convert
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from mdit_py_plugins.dollarmath import dollarmath_plugin

from grader.exercise import chart, microscope
from grader.pages import charts, microscopes
from grader.pages.shading import shaded

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
_PICTURES = {microscope.FENCE: microscopes.drawn, chart.FENCE: charts.drawn}  # by the kind of a fenced block
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


def folded(title: str, markdown: str) -> str:
    """Return a part that opens on a click; `title` is plain text of ours."""
    return f"<details><summary>{title}</summary>{to_html(markdown)}</details>"


@cache
def _reader() -> MarkdownIt:
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    reader.add_render_rule("fence", _block)
    return reader.use(dollarmath_plugin, renderer=_formula, double_inline=True)


def _block(renderer: RendererHTML, tokens: Sequence[Token], place: int, options: OptionsDict, env: EnvType) -> str:
    """Return the HTML of a fenced block: a microscope, a chart, or else code."""
    block = tokens[place]
    draw = _PICTURES.get(block.info.strip())
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
