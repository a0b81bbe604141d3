"""The pictures of a report as the browser draws them, and the scales of their axes; pure functions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from grader.judge.report import Bar, Curve, Heatmap, Location, Matrix, Pane, Series, StepSeen
from grader.pages.wording import View, clean, count

_DECADES = 20.0  # largest over smallest number; from here on a straight axis shows only the largest


@dataclass(frozen=True, slots=True)
class Scale:
    """From `least` to `most`, which differ; `log`: equal factors are equally long."""

    least: float
    most: float
    log: bool = False

    @classmethod
    def of(cls, values: Sequence[float], *, around_zero: bool, straight: bool = False) -> Scale:
        """Return the scale on which `values` can be read.

        Args:
            values: numbers on the axis.
            around_zero: whether a straight scale holds zero.
            straight: whether it is never logarithmic.
        """
        if not values:
            return cls(0.0, 1.0)
        least, most = min(values), max(values)
        if not straight and least > 0 and most / least >= _DECADES:
            return cls(least, most, log=True)
        if around_zero:
            least, most = min(least, 0.0), max(most, 0.0)
        return cls(least, most) if most > least else cls(least - 0.5, most + 0.5)


_HATCHED = {
    "attention": "hatched: must hold no weight",
    "influence": "hatched: must not be seen",
    "mask": "hatched: hidden",
}
_FEW = 20  # different numbers across
_SIGNED = ("encoding", "output")  # numbers around zero


def map_view(heatmap: Heatmap) -> View:
    """Return a heat map: its matrices, and how their numbers become colours.

    `hatched` says which cells hide: those that are 0 in `expected`, or those of the shown matrix that are `-inf` or
    `zero`. `least` and `most` are the ends of the colours.
    """
    panes = heatmap.all_panes
    wrong = sum(len(pane.wrong) for pane in panes)
    finite = [value for pane in panes for value in _finite((*pane.values, *pane.expected))]
    most = 1.0 if heatmap.role == "attention" else max((abs(value) for value in finite), default=0.0)
    # Weights and influence begin at zero, whatever an answer gives for them.
    signed = heatmap.role in _SIGNED or (heatmap.role == "mask" and any(value < 0 for value in finite))
    hatched = _hatched(heatmap)
    summary = f"{count(wrong, 'cell')} wrong, framed in red." if wrong else "Every cell is as expected."
    return {
        "title": clean(heatmap.title, 120).replace("`", ""),
        "rows": clean(heatmap.rows, 60),
        "columns": clean(heatmap.columns, 60),
        "least": -most if signed else 0.0,
        "most": most,
        "hatched": hatched,
        "legend": _HATCHED[heatmap.role] if hatched else "",
        "note": clean(heatmap.note, 200),
        "summary": summary if heatmap.expected else "",
        "panes": [_pane(pane) for pane in panes],
    }


def _hatched(heatmap: Heatmap) -> str:
    """Return which cells hide, empty where none does."""
    if heatmap.role not in _HATCHED or not heatmap.expected:
        return ""
    cells = [value for pane in heatmap.all_panes for row in (*pane.values, *pane.expected) for value in row]
    if heatmap.role == "mask":
        return "-inf" if -math.inf in cells else "zero"
    return "expected" if 0.0 in (value for pane in heatmap.all_panes for row in pane.expected for value in row) else ""


def _pane(pane: Pane) -> View:
    return {
        "name": clean(pane.name, 60),
        "values": _cells(pane.values),
        "expected": _cells(pane.expected),
        "wrong": pane.wrong,
    }


def _cells(matrix: Matrix) -> View:
    """Return a matrix with a word for each number that JSON lacks."""
    return [[value if math.isfinite(value) else str(value) for value in row] for row in matrix]


def _finite(matrix: Matrix) -> list[float]:
    return [value for row in matrix for value in row if math.isfinite(value)]


def curve_view(curve: Curve) -> View:
    """Return a curve with the scales of its axes; one whose numbers span decades is logarithmic."""
    ys = [y for series in curve.series for y in series.ys]
    xs = [x for series in curve.series for x in series.xs]
    level = [curve.bound] if curve.bound is not None else []
    across = Scale.of(xs, around_zero=False, straight=len(set(xs)) > _FEW)  # steps are counted, sizes are multiplied
    up = Scale.of([*ys, *level], around_zero=True)
    return {
        "title": clean(curve.title, 120).replace("`", ""),
        "x": _axis(clean(curve.x, 60), across),
        "y": _axis(clean(curve.y, 60), up),
        "bound": curve.bound,
        "note": clean(curve.note, 300),
        "series": [_series(series) for series in curve.series],
        "summary": clean(". ".join(_told(series) for series in curve.series), 400),
    }


def _axis(name: str, scale: Scale) -> View:
    return {"name": name, "log": scale.log, "least": scale.least, "most": scale.most}


def _series(series: Series) -> View:
    return {"name": clean(series.name, 60), "points": [list(point) for point in zip(series.xs, series.ys, strict=True)]}


def _told(series: Series) -> str:
    if not series.ys:
        return f"{series.name}: nothing"
    return f"{series.name}: from {series.ys[0]:.3g} to {series.ys[-1]:.3g}"


def gradients_view(bars: Sequence[Bar]) -> list[View]:
    """Return the gradient bars, their lengths in percent of the longest."""
    sizes = [size for bar in bars for size in (bar.value, bar.expected) if size is not None and math.isfinite(size)]
    most = max(sizes, default=0.0) or 1.0
    return [_gradient(bar, most) for bar in bars]


def _gradient(bar: Bar, most: float) -> View:
    value = bar.value
    fine = value is not None and math.isfinite(value) and (value > 0 or bar.expected == 0)
    if value is None:
        text = "no gradient"
    elif not math.isfinite(value):
        text = "not finite"
    else:
        text = "zero" if value == 0 else f"{value:.2g}"
    return {
        "name": clean(bar.name, 80),
        "share": 100 * value / most if value is not None and math.isfinite(value) else 0.0,
        "expected": 100 * bar.expected / most,
        "tone": "good" if fine else "poor",
        "text": text,
    }


def stages_view(location: Location | None) -> View:
    """Return the steps of the case where an answer begins to differ, yours beside expected; None without any."""
    if location is None or not location.stages:
        return None
    return {"case": clean(location.case, 120), "stages": [_stage(stage) for stage in location.stages]}


def _stage(stage: StepSeen) -> View:
    return {
        "name": stage.name or "this step",
        "title": clean(stage.title, 200),
        "standing": stage.standing,
        "place": clean(stage.place, 80),
        "expected": _cells(stage.expected),
        "yours": _cells(stage.yours),
        "wrong": stage.wrong,
    }
