"""The sentence behind each number: the same for its student and for the class's instructors."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction

from grader.rules.line import Cell, CellState, Scored, rounded
from grader.rules.offer import Offer
from grader.rules.values import Assignment, ShareOf

_STATES = {
    CellState.MISSING: "nothing that counts was handed in, and it is too late now",
    CellState.BLANK: "nothing that counts was handed in so far",
    CellState.EXCUSED: "excused: adds no points, and none to what is possible",
    CellState.NOT_ASSIGNED: "was due before this person joined",
    CellState.HIDDEN: "not published yet",
}


def explain(assignment: Assignment, cell: Cell) -> str:
    """Return how a cell comes to its points, in one sentence."""
    return "; ".join(_parts(assignment, cell))


def _parts(assignment: Assignment, cell: Cell) -> Iterator[str]:
    if cell.state is not CellState.GRADED:
        yield _STATES[cell.state]
    else:
        several = len(assignment.items) > 1
        for exercise in assignment.items:
            scored = cell.items.get(exercise)
            text = explain_item(assignment, scored) if scored else "nothing that counts, 0"
            yield f"{exercise}: {text}" if several else text
        if several and cell.computed is not None:
            yield f"together {two_decimals(cell.computed)}"
    if cell.override is not None:
        yield f"replaced by {two_decimals(cell.override)} by an instructor"


def explain_item(assignment: Assignment, scored: Scored) -> str:
    """Return how an attempt comes to its points.

    Example: `5.5 × 90 % = 4.95; 3 days late, none from the bank, −30 % = 3.465`.
    """
    score = scored.attempt.score or Fraction(0)
    text = f"{exact(scored.weight)} × {exact(score)} % = {exact(scored.earned)}"
    if not scored.days_late:
        return text
    bank = "none" if not scored.covered else "all" if scored.covered == scored.days_late else str(scored.covered)
    text += f"; {_days(scored.days_late)} late, {bank} from the bank"
    if scored.points == scored.earned:
        return text if scored.covered == scored.days_late else f"{text}, which costs nothing here"
    late = assignment.late
    share = min((scored.days_late - scored.covered) * late.per_day, late.at_most)
    most = " (the most that lateness costs)" if share == late.at_most else ""
    base = "" if late.of is ShareOf.EARNED else f" of {exact(scored.weight)}"
    return f"{text}, −{exact(100 * share)} %{base}{most} = {exact(scored.points)}"


def cost_of(one: Offer) -> str:
    """Return what a hand-in costs now: `2 days late, both from your bank of 4; without late days −40 %`."""
    if not one.days_late:
        return "in time"
    late = f"{_days(one.days_late)} late"
    base = "" if one.of is ShareOf.EARNED else " of what the exercise is worth"
    without = f"−{exact(100 * one.lost_without)} %{base}"
    if not one.covered:
        return f"{late}, {without}" if one.lost else f"{late}, which costs nothing here"
    all_of = {1: "taken", 2: "both"}.get(one.days_late, "all")
    many = all_of if one.covered == one.days_late else f"{one.covered} of them"
    rest = f", −{exact(100 * one.lost)} %{base}" if one.lost else ""
    return f"{late}, {many} from your bank of {one.bank}{rest}; without late days {without}"


def exact(value: Fraction) -> str:
    """Return a number that has an end in decimals, without zeros at its end: `4.5`, `20`."""
    return format((Decimal(value.numerator) / Decimal(value.denominator)).normalize(), "f")


def two_decimals(value: Fraction) -> str:
    """Return points, rounded to two decimals: `4.50`."""
    return f"{Decimal(int(rounded(value) * 100)) / 100:.2f}"


def _days(number: int) -> str:
    return "1 day" if number == 1 else f"{number} days"
