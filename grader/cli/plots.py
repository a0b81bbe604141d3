"""The pictures of a report as PNG files: the numbers and colours of the page, drawn with matplotlib."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from grader.cli.canvas import drawable, empty_figure, is_signed, paint_matrix
from grader.cli.written import write_anew
from grader.judge.report import Bar, Curve, Figures, Heatmap, Matrix

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PER_ROW = 4  # heads side by side
_DECADES = 20.0  # largest over smallest number; from here on an axis is logarithmic
_FEW = 20  # points that are marked one by one
_INKS = ("#4338ca", "#c2410c", "#475569")
_STYLES: tuple[Literal["-", "--", ":"], ...] = ("-", "--", ":")


def save(figures: Figures, folder: Path, name: str, taken: Collection[Path] = ()) -> dict[Path, bool]:
    """Write every picture into `folder`, called `name` and what is drawn, and leave the files `taken` as they are.

    Returns:
        The files, each with whether another one lay in its place.

    Raises:
        OSError: the folder cannot be made or written to.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written: dict[Path, bool] = {}
    for title, figure in _drawn(figures):
        path = _unused(folder, f"{name}-{_slug(title)}", {*taken, *written})
        drawn = io.BytesIO()
        figure.savefig(drawn, dpi=120)
        written[path] = write_anew(path, drawn.getvalue())
    return written


def _drawn(figures: Figures) -> Iterator[tuple[str, Figure]]:
    for heatmap in figures.heatmaps:
        yield heatmap.role, _map(heatmap)
    for curve in figures.curves:
        yield curve.title, _curve(curve)
    if figures.gradients:
        yield "gradient flow", _gradients(figures.gradients, figures.gradients_note)


def _slug(title: str) -> str:
    words = re.findall(r"[a-z0-9]+", title.lower())
    return "-".join(words)[:60].strip("-") or "picture"


def _unused(folder: Path, name: str, taken: Collection[Path]) -> Path:
    """Return a file of this run's own; one of an earlier run is replaced."""
    names = [name, *(f"{name}-{number}" for number in range(2, len(taken) + 3))]
    return next(path for path in (folder / f"{one}.png" for one in names) if path not in taken)


def _map(heatmap: Heatmap) -> Figure:
    """Return rows of heads: yours, expected, and the difference."""
    panes = heatmap.all_panes[:_PER_ROW]
    kinds = ("yours", "expected", "difference") if heatmap.expected else ("yours",)
    rows, columns = len(heatmap.values), len(heatmap.values[0])
    wide, high = 1.2 + 0.3 * max(columns, 6), 0.9 + 0.3 * max(rows, 4)
    figure = empty_figure(wide * len(panes), high * len(kinds) + 0.8)
    grid = figure.subplots(len(kinds), len(panes), squeeze=False)
    for row, kind in enumerate(kinds):
        matrices = [_matrix(kind, pane.values, pane.expected) for pane in panes]
        signed = is_signed(matrices) or heatmap.role in ("encoding", "output") or kind == "difference"
        most = 1.0 if heatmap.role == "attention" and kind != "difference" else _largest(matrices)
        for column, (pane, matrix) in enumerate(zip(panes, matrices, strict=True)):
            axes = grid[row][column]
            hidden = _hidden(heatmap, pane.expected or None, matrix)
            paint_matrix(axes, matrix, most=most, signed=signed, hidden=hidden)
            _frame(axes, pane.wrong if kind != "expected" else ())
            axes.set_title(", ".join(part for part in (pane.name, kind) if part), fontsize=9)
            axes.set_xlabel(heatmap.columns, fontsize=8)
            axes.set_ylabel(heatmap.rows, fontsize=8)
    _title(figure, heatmap.title, heatmap.note)
    return figure


def _matrix(kind: str, yours: Matrix, expected: Matrix) -> Matrix:
    if kind != "difference":
        shown = yours if kind == "yours" else expected
        return tuple(tuple(drawable(value) for value in row) for row in shown)
    own_rows, right_rows = _matrix("yours", yours, expected), _matrix("expected", yours, expected)
    pairs = (zip(own, right, strict=True) for own, right in zip(own_rows, right_rows, strict=True))
    return tuple(tuple(0.0 if own == right else own - right for own, right in row) for row in pairs)


def _largest(matrices: Sequence[Matrix]) -> float:
    return max((abs(v) for matrix in matrices for row in matrix for v in row if math.isfinite(v)), default=0.0) or 1.0


def _hidden(heatmap: Heatmap, expected: Matrix | None, matrix: Matrix) -> list[tuple[int, int]]:
    """Return the cells that hide: by what is expected, in a mask by what it holds."""
    if heatmap.role == "mask":
        wanted = -math.inf if any(-math.inf in row for row in (*heatmap.values, *heatmap.expected)) else 0.0
        found: Matrix | None = matrix
    else:
        wanted, found = 0.0, expected if heatmap.role in ("attention", "influence") else None
    return [(r, c) for r, row in enumerate(found or ()) for c, value in enumerate(row) if value == wanted]


def _frame(axes: Axes, cells: Sequence[tuple[int, int]]) -> None:
    from matplotlib.patches import Rectangle  # here and not above: see `canvas`

    for row, column in cells:
        axes.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, edgecolor="#dc2626", linewidth=1.6))


def _curve(curve: Curve) -> Figure:
    figure = empty_figure(7.0, 4.2)
    axes = figure.subplots()
    for index, series in enumerate(curve.series):
        (line,) = axes.plot(series.xs, [_number(y) for y in series.ys], label=series.name, color=_INKS[index % 3])
        line.set_linestyle(_STYLES[index % 3])
        line.set_marker("o" if len(series.xs) < _FEW else "")
    if curve.bound is not None:
        axes.axhline(curve.bound, color=_INKS[2], linestyle="--", label=f"to be reached: {curve.bound:g}")
    ys = [drawable(y) for series in curve.series for y in series.ys if math.isfinite(y)]
    if ys and min(ys) > 0 and max(ys) / min(ys) >= _DECADES:
        axes.set_yscale("log")
    elif ys:
        axes.set_ylim(bottom=min(0.0, *ys))
    axes.set_xlabel(curve.x)
    axes.set_ylabel(curve.y)
    axes.grid(visible=True, color="#e2e8f0")
    axes.legend(fontsize=8)
    _title(figure, curve.title, curve.note)
    return figure


def _gradients(bars: Sequence[Bar], note: str) -> Figure:
    figure = empty_figure(7.0, 1.4 + 0.32 * len(bars))
    axes = figure.subplots()
    places = range(len(bars))
    axes.barh(places, [_length(bar.value) for bar in bars], color=_INKS[0], height=0.5)
    axes.scatter([_number(bar.expected) for bar in bars], places, marker="|", s=180, color="#0f172a", label="expected")
    axes.set_yticks(places, [bar.name for bar in bars], fontsize=8)
    axes.invert_yaxis()
    axes.set_xlabel("largest gradient per tensor")
    axes.legend(fontsize=8)
    _title(figure, "Gradient flow", note)
    return figure


def _length(value: float | None) -> float:
    return drawable(value) if value is not None and math.isfinite(value) else 0.0


def _number(value: float) -> float:
    """Return what a curve can hold; a gap where it is no number."""
    return drawable(value) if math.isfinite(value) else math.nan


def _title(figure: Figure, title: str, note: str) -> None:
    lines = [part for part in (title.replace("`", ""), note) if part]
    figure.suptitle("\n".join(lines), fontsize=10, parse_math=False)
