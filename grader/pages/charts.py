"""A statement's chart as SVG: drawn on the server, so that it is there before any script and without one."""

from __future__ import annotations

import math
from collections.abc import Iterator
from html import escape

from grader.errors import AuthorError
from grader.exercise.chart import Chart, chart
from grader.pages.scales import Scale

_WIDTH, _HEIGHT = 360, 220  # of the drawing; on a phone a unit is about a pixel
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 352, 10, 180  # where the lines lie
_TICKS = 5  # at most, about, on an axis
_DASHES = ("", "6 4", "2 4")  # lines are told apart without colours too
_STEPS = (1.0, 2.0, 5.0, 10.0)


def drawn(text: str) -> str | None:
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
