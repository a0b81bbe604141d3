"""Reports to draw."""

from __future__ import annotations

from grader.judge.report import (
    Bar,
    CheckResult,
    Curve,
    Diagnosis,
    Dimension,
    Figures,
    Heatmap,
    Pane,
    Points,
    Property,
    Report,
    Series,
    Status,
    Verdict,
)

HOSTILE = "<img src=x onerror=alert(1)>${alert(2)}{{alert(3)}}\u202e`b`"
_PANES = (Pane(HOSTILE, ((0.5, 0.5),), ((1.0, 0.0),), ((0, 1),)),)


def check(name: str, dimension: Dimension, status: Verdict, message: str = "") -> CheckResult:
    """Return a check worth five points."""
    return CheckResult(name, dimension, status, 5.0 if status is Verdict.PASSED else 0.0, 5.0, message)


def failed_report(text: str = "expected 0.5, yours 0.25") -> Report:
    """Return a report with a failed masking check, a diagnosis and every kind of figure, all saying `text`."""
    return Report(
        exercise="causal_attention",
        status=Status.GRADED,
        score=66.67,
        seed=7,
        device="cpu",
        seconds=0.25,
        dimensions={Dimension.MASKING: Points(5.0, 10.0), Dimension.SHAPES: Points(5.0, 5.0)},
        checks=(
            check("small: shape", Dimension.SHAPES, Verdict.PASSED),
            check("small: influence", Dimension.MASKING, Verdict.PASSED),
            check("large: influence", Dimension.MASKING, Verdict.FAILED, text),
        ),
        properties=(Property(text, text, False, text),),
        diagnosis=(Diagnosis("late_mask", text, text, certain=True),),
        advice=(text,),
        mapping={"W_query": text},
        figures=Figures(
            heatmaps=(
                Heatmap("attention", text, "query", "key", ((1.0, 0.5),), ((1.0, 0.0),), ((0, 1),), text, text, _PANES),
            ),
            gradients=(Bar("x", 0.2, 0.4), Bar("W_key", None, 0.1)),
            gradients_note=text,
            curves=(Curve(text, text, text, (Series(text, (1.0, 2.0), (3.0, 4.0)),), bound=2.0, note=text),),
        ),
        output=text,
        box="sandbox",
    )


def accepted_report() -> Report:
    """Return a report in which everything passed."""
    return Report(
        exercise="causal_attention",
        status=Status.GRADED,
        score=100.0,
        seed=7,
        device="cpu",
        seconds=0.25,
        dimensions={Dimension.SHAPES: Points(5.0, 5.0)},
        checks=(check("small: shape", Dimension.SHAPES, Verdict.PASSED),),
    )


def ended_report(status: Status, reason: str) -> Report:
    """Return a report of a submission that ended before any check."""
    return Report("causal_attention", status, 0.0, 7, "cpu", 0.1, reason=reason)
