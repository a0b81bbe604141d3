"""Figures of matplotlib without its global state, and matrices in the page's colours."""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from grader.judge.report import Matrix

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# matplotlib is imported inside the functions: it takes a second, and most commands draw nothing.
MOST = 1e100  # the largest number that is drawn
_PLAIN = ("#eef2fa", "#818cf8", "#4338ca", "#1e1b4b")
_SIGNED = ("#9a3412", "#fb923c", "#f4f6fa", "#6366f1", "#312e81")


def empty_figure(width: float, height: float) -> Figure:
    """Return a figure of so many inches; it is written with Agg, which needs no screen."""
    with contextlib.chdir(os.sep):  # it obeys a `matplotlibrc` in the current folder, where files of others may lie
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def drawable(value: float) -> float:
    """Return a number that axes can hold; with the largest and the smallest ones their limits become infinite."""
    if not math.isfinite(value):
        return value
    return 0.0 if abs(value) < 1 / MOST else max(-MOST, min(MOST, value))


def is_signed(matrices: Sequence[Matrix]) -> bool:
    """Return whether a finite number below zero is among them."""
    return any(value < 0 for matrix in matrices for row in matrix for value in row if math.isfinite(value))


def paint_matrix(axes: Axes, matrix: Matrix, *, most: float, signed: bool, hidden: Sequence[tuple[int, int]]) -> None:
    """Draw a matrix with a colour bar; `hidden` cells are hatched, NaN and infinity stay white with a cross.

    Args:
        axes: where.
        matrix: rows of cells.
        most: the number of the last colour.
        signed: the first colour is -`most`, not 0.
        hidden: rows and columns of cells.
    """
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.patches import Rectangle

    colours = LinearSegmentedColormap.from_list("page", _SIGNED if signed else _PLAIN)
    finite = [[value if math.isfinite(value) else math.nan for value in row] for row in matrix]
    drawn = axes.imshow(finite, cmap=colours, vmin=-most if signed else 0.0, vmax=most, aspect="equal")
    for row, column in hidden:
        corner = (column - 0.5, row - 0.5)
        axes.add_patch(Rectangle(corner, 1, 1, fill=False, hatch="////", edgecolor="#94a3b8", linewidth=0.0))
    for r, cells in enumerate(matrix):
        for c, value in enumerate(cells):
            if math.isnan(value) or value == math.inf:
                axes.text(c, r, "x", ha="center", va="center", color="#b91c1c", fontsize=8)
    axes.set_xticks(_ticks(len(matrix[0])))
    axes.set_yticks(_ticks(len(matrix)))
    axes.tick_params(labelsize=7, length=0)
    if axes.figure is not None:
        axes.figure.colorbar(drawn, ax=axes, shrink=0.8).ax.tick_params(labelsize=7)


def _ticks(size: int) -> range:
    return range(0, size, max(1, math.ceil(size / 12)))
