"""The pictures of a report as PNG files: the numbers and colours of the page, drawn with matplotlib.

It is used without its global state, and imported inside of the functions: it takes a second, and most commands draw
nothing.
"""

from __future__ import annotations

import contextlib
import io
import math
import os
import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from grader.cli.text import write_anew
from grader.judge.report import Bar, Curve, Figures, Heatmap, Matrix

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST = 1e100  # the largest number that is drawn
_PER_ROW = 4  # heads side by side
_DECADES = 20.0  # largest over smallest number; from here on an axis is logarithmic
_FEW = 20  # points that are marked one by one
_PLAIN = ("#eef2fa", "#818cf8", "#4338ca", "#1e1b4b")
_SIGNED = ("#9a3412", "#fb923c", "#f4f6fa", "#6366f1", "#312e81")
_INKS = ("#4338ca", "#c2410c", "#475569")
_STYLES: tuple[Literal["-", "--", ":"], ...] = ("-", "--", ":")


def save(figures: Figures, folder: Path, name: str, others: Collection[Path] = ()) -> dict[Path, bool]:
    """Write every picture into `folder`, called `name` and what is drawn; of `others`, files of this run, keep off.

    A file of an earlier run is replaced.

    Returns:
        The files, each with whether another one lay in its place.

    Raises:
        OSError: the folder cannot be made or written to.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files: dict[Path, bool] = {}
    for title, figure in _drawn(figures):
        words = re.findall(r"[a-z0-9]+", title.lower())
        stem = f"{name}-{'-'.join(words)[:60].strip('-') or 'picture'}"
        own = {*others, *files}
        names = (stem, *(f"{stem}-{number}" for number in range(2, len(own) + 3)))
        path = next(path for path in (folder / f"{one}.png" for one in names) if path not in own)
        drawn = io.BytesIO()
        figure.savefig(drawn, dpi=120)
        files[path] = write_anew(path, drawn.getvalue())
    return files


def _drawn(figures: Figures) -> Iterator[tuple[str, Figure]]:
    for heatmap in figures.heatmaps:
        yield heatmap.role, _map(heatmap)
    for curve in figures.curves:
        yield curve.title, _curve(curve)
    if figures.gradients:
        yield "gradient flow", _gradients(figures.gradients, figures.gradients_note)


def _figure(width: float, height: float) -> Figure:
    """Return a figure of so many inches; it is written with Agg, which needs no screen."""
    with contextlib.chdir(os.sep):  # it obeys a `matplotlibrc` in the current folder, where files of others may lie
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _title(figure: Figure, title: str, note: str) -> None:
    lines = [part for part in (title.replace("`", ""), note) if part]
    figure.suptitle("\n".join(lines), fontsize=10, parse_math=False)


def _drawable(value: float) -> float:
    """Return a number that axes can hold; with the largest and the smallest ones their limits become infinite."""
    if not math.isfinite(value):
        return value
    return 0.0 if abs(value) < 1 / _MOST else max(-_MOST, min(_MOST, value))


def _number(value: float) -> float:
    """Return what a curve can hold; a gap where it is no number."""
    return _drawable(value) if math.isfinite(value) else math.nan


# ---- heat maps


def _map(heatmap: Heatmap) -> Figure:
    """Return rows of heads: yours, expected, and the difference."""
    panes = heatmap.all_panes[:_PER_ROW]
    kinds = ("yours", "expected", "difference") if heatmap.expected else ("yours",)
    rows, columns = len(heatmap.values), len(heatmap.values[0])
    wide, high = 1.2 + 0.3 * max(columns, 6), 0.9 + 0.3 * max(rows, 4)
    figure = _figure(wide * len(panes), high * len(kinds) + 0.8)
    grid = figure.subplots(len(kinds), len(panes), squeeze=False)
    for row, kind in enumerate(kinds):
        matrices = [_matrix(kind, pane.values, pane.expected) for pane in panes]
        finite = [value for matrix in matrices for cells in matrix for value in cells if math.isfinite(value)]
        signed = min(finite, default=0.0) < 0 or heatmap.role in ("encoding", "output") or kind == "difference"
        most = max(map(abs, finite), default=0.0) or 1.0
        most = 1.0 if heatmap.role == "attention" and kind != "difference" else most
        for column, (pane, matrix) in enumerate(zip(panes, matrices, strict=True)):
            axes = grid[row][column]
            _paint(axes, matrix, most=most, signed=signed)
            _frame(axes, _hidden(heatmap, pane.expected, matrix), hatch="////", edgecolor="#94a3b8", linewidth=0.0)
            _frame(axes, pane.wrong if kind != "expected" else (), edgecolor="#dc2626", linewidth=1.6)
            axes.set_title(", ".join(part for part in (pane.name, kind) if part), fontsize=9)
            axes.set_xlabel(heatmap.columns, fontsize=8)
            axes.set_ylabel(heatmap.rows, fontsize=8)
    _title(figure, heatmap.title, heatmap.note)
    return figure


def _matrix(kind: str, yours: Matrix, expected: Matrix) -> Matrix:
    own, right = (tuple(tuple(map(_drawable, row)) for row in matrix) for matrix in (yours, expected))
    if kind != "difference":
        return own if kind == "yours" else right
    pairs = (zip(*rows, strict=True) for rows in zip(own, right, strict=True))
    return tuple(tuple(0.0 if one == other else one - other for one, other in row) for row in pairs)


def _hidden(heatmap: Heatmap, expected: Matrix, matrix: Matrix) -> list[tuple[int, int]]:
    """Return the cells that hide: by what is expected, in a mask by what it holds."""
    shown, nothing = expected if heatmap.role in ("attention", "influence") else (), 0.0
    if heatmap.role == "mask":
        shown = matrix
        nothing = -math.inf if any(-math.inf in row for row in (*heatmap.values, *heatmap.expected)) else 0.0
    return [(r, c) for r, row in enumerate(shown) for c, value in enumerate(row) if value == nothing]


def _paint(axes: Axes, matrix: Matrix, *, most: float, signed: bool) -> None:
    """Draw a matrix with a colour bar; NaN and infinity stay white with a cross.

    Args:
        axes: where.
        matrix: rows of cells.
        most: the number of the last colour.
        signed: the first colour is -`most`, not 0.
    """
    from matplotlib.colors import LinearSegmentedColormap

    colours = LinearSegmentedColormap.from_list("page", _SIGNED if signed else _PLAIN)
    finite = [[value if math.isfinite(value) else math.nan for value in row] for row in matrix]
    drawn = axes.imshow(finite, cmap=colours, vmin=-most if signed else 0.0, vmax=most, aspect="equal")
    for r, row in enumerate(matrix):
        for c, value in enumerate(row):
            if math.isnan(value) or value == math.inf:
                axes.text(c, r, "x", ha="center", va="center", color="#b91c1c", fontsize=8)
    across, down = (range(0, size, max(1, math.ceil(size / 12))) for size in (len(matrix[0]), len(matrix)))
    axes.set_xticks(across)
    axes.set_yticks(down)
    axes.tick_params(labelsize=7, length=0)
    if axes.figure is not None:
        axes.figure.colorbar(drawn, ax=axes, shrink=0.8).ax.tick_params(labelsize=7)


def _frame(axes: Axes, cells: Sequence[tuple[int, int]], **style: Any) -> None:
    from matplotlib.patches import Rectangle

    for row, column in cells:
        axes.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, **style))


# ---- curves and bars


def _curve(curve: Curve) -> Figure:
    figure = _figure(7.0, 4.2)
    axes = figure.subplots()
    for index, series in enumerate(curve.series):
        (line,) = axes.plot(series.xs, [_number(y) for y in series.ys], label=series.name, color=_INKS[index % 3])
        line.set_linestyle(_STYLES[index % 3])
        line.set_marker("o" if len(series.xs) < _FEW else "")
    if curve.bound is not None:
        axes.axhline(curve.bound, color=_INKS[2], linestyle="--", label=f"to be reached: {curve.bound:g}")
    ys = [_drawable(y) for series in curve.series for y in series.ys if math.isfinite(y)]
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
    figure = _figure(7.0, 1.4 + 0.32 * len(bars))
    axes = figure.subplots()
    places = range(len(bars))
    lengths = [bar.value if bar.value is not None and math.isfinite(bar.value) else 0.0 for bar in bars]
    axes.barh(places, [_drawable(length) for length in lengths], color=_INKS[0], height=0.5)
    axes.scatter([_number(bar.expected) for bar in bars], places, marker="|", s=180, color="#0f172a", label="expected")
    axes.set_yticks(places, [bar.name for bar in bars], fontsize=8)
    axes.invert_yaxis()
    axes.set_xlabel("largest gradient per tensor")
    axes.legend(fontsize=8)
    _title(figure, "Gradient flow", note)
    return figure
