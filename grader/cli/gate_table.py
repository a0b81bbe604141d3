"""The gate's figures as a table: for the terminal, or as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # it brings torch, and the box imports that at the same time
    from grader.gate import GateResult
    from grader.gate.outcome import Ratio

COLUMNS = ("mistakes caught", "named", "right accepted", "wrong refused", "trivial refused", "one grade")


@dataclass(frozen=True, slots=True)
class GateTable:
    """A line per exercise, the names `width` wide; with `markdown`, without what differs from run to run."""

    width: int
    markdown: bool = False

    def head(self) -> str:
        """Return the line of titles."""
        if self.markdown:
            columns = ("exercise", "graded on", *COLUMNS[:-1])
            return f"| {' | '.join(columns)} |\n|---|{'---|' * (len(columns) - 1)}"
        return f"{'exercise':{self.width}}  {'  '.join(COLUMNS)}  verdict"

    def row(self, outcome: GateResult) -> str:
        """Return the line of one exercise."""
        said = "right" if outcome.passed else f"{len(outcome.complaints)} to fix"
        seconds = f"{outcome.seconds * 1000:.0f} ms"
        graded = (", ".join(outcome.dimensions),) if self.markdown else ()
        return self._line(outcome.exercise, (*graded, *_figures(outcome)), seconds, said)

    def total(self, outcomes: Sequence[GateResult]) -> str:
        """Return the line of all exercises together."""
        first, *rest = [_figures(outcome) for outcome in outcomes]
        for figures in rest:
            first = tuple(one + other for one, other in zip(first, figures, strict=True))
        failed = sum(not outcome.passed for outcome in outcomes)
        graded = ("",) if self.markdown else ()
        return self._line("all together", (*graded, *first), "", f"{failed} to fix" if failed else "right")

    def _line(self, name: str, figures: Sequence[object], seconds: str, said: str) -> str:
        if self.markdown:
            shown = name if " " in name else f"`{name}`"
            return f"| {shown} | {' | '.join(map(str, figures))} |"
        cells = (f"{cell!s:>{len(title)}}" for cell, title in zip((*figures, seconds), COLUMNS, strict=True))
        return f"{name:{self.width}}  {'  '.join(cells)}  {said}"


def _figures(outcome: GateResult) -> tuple[Ratio, ...]:
    return outcome.caught, outcome.named, outcome.accepted, outcome.refused, outcome.trivial
