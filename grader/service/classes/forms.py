"""How answers are written: points as text with two decimals, times in UTC, and what there is not as None."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any

from grader.rules.board import BoardRow
from grader.rules.line import Cell, CellState, GradeLine, Scored
from grader.rules.misconceptions import Misconception
from grader.rules.preview import Changed, Preview, Statistics, percents, points
from grader.rules.sentences import exact, explain, two_decimals
from grader.rules.values import Book


def moment(at: int) -> str:
    """Return an instant in milliseconds as text: `2026-12-01T15:00:00.000Z`."""
    when = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=at)
    return when.strftime("%Y-%m-%dT%H:%M:%S.") + f"{at % 1000:03d}Z"


def text_of(value: Fraction | None) -> str | None:
    """Return points with two decimals, rounded half up."""
    return None if value is None else two_decimals(value)


def line(book: Book, one: GradeLine) -> Mapping[str, Any]:
    """Return a person's line of the gradebook."""
    member = book.members[one.person]
    return {
        "person": one.person,
        "name": member.name,
        "section": member.section,
        "cells": {key: cell(book, key, found) for key, found in one.cells.items()},
        "total": text_of(one.total),
        "possible": text_of(one.possible),
        "percent": text_of(one.percent),
        "bank": {"start": one.start, "left": one.left},
    }


def cell(book: Book, key: str, one: Cell) -> Mapping[str, Any]:
    """Return a cell with the sentence that explains it."""
    return {
        "state": one.state.value,
        "points": text_of(one.points),
        "computed": text_of(one.computed),
        "override": text_of(one.override),
        "charged": one.charged,
        "items": {exercise: _item(scored) for exercise, scored in one.items.items()},
        "explain": explain(book.assignments[key], one),
    }


def statistics(book: Book, lines: Mapping[str, GradeLine], sections: Iterable[str]) -> Mapping[str, Any]:
    """Return the figures of a class, of its sections, and of its assignments."""
    in_section = {
        name: [one for one in lines.values() if book.members[one.person].section == name] for name in sections
    }
    return {
        "percent": _figures(percents(lines.values())),
        "sections": {
            name: {what: value for what, value in _figures(percents(theirs)).items() if what in ("n", "mean", "median")}
            for name, theirs in in_section.items()
        },
        "assignments": {one.key: _figures(points(lines.values(), book, one.key)) for one in book.in_order()},
    }


def changes(found: Preview) -> Mapping[str, Any]:
    """Return what a change would do to cells and banks, and if there are any, the overrides above what is possible."""
    banks = sorted(found.banks.items())
    above = [
        {"person": person, "assignment": key, "points": two_decimals(points)}
        for (person, key), points in sorted(found.above.items())
    ]
    return {
        **({"above": above} if above else {}),
        "cells": [_changed(one) for one in sorted(found.cells, key=lambda one: one.person)],
        "banks": [{"person": person, "before": before, "after": after} for person, (before, after) in banks],
    }


def board(rows: Iterable[BoardRow]) -> list[Mapping[str, Any]]:
    """Return the rows of a board."""
    return [
        {
            "rank": row.rank, "person": row.person, "score": text_of(row.score), "attempts": row.attempts,
            "at": moment(row.at),
        }
        for row in rows
    ]  # fmt: skip


def misconceptions(found: Iterable[Misconception]) -> list[Mapping[str, Any]]:
    """Return what a class misunderstands; `took` is a number of attempts, exact."""
    return [
        {
            "exercise": one.exercise, "mistake": one.cause, "students": one.students, "attempts": one.attempts,
            "mended": one.mended, "took": None if one.took is None else exact(one.took),
            "stuck": [
                {"person": each.person, "since": moment(each.since), "attempt": each.attempt} for each in one.stuck
            ],
        }
        for one in found
    ]  # fmt: skip


def _item(one: Scored) -> Mapping[str, Any]:
    return {
        "attempt": one.attempt.id,
        "score": text_of(one.attempt.score),
        "days_late": one.days_late,
        "covered": one.covered,
        "points": exact(one.points),
    }


def _figures(one: Statistics) -> Mapping[str, Any]:
    return {
        "n": one.n, "mean": text_of(one.mean), "median": text_of(one.median), "full": one.full, "zero": one.zero
    }  # fmt: skip


def _changed(one: Changed) -> Mapping[str, Any]:
    before, after = (_points(each) for each in (one.before, one.after))
    return {"person": one.person, "assignment": one.assignment, "before": before, "after": after, "held": one.is_held}


def _points(one: Cell | None) -> str | None:
    return None if one is None or one.state is CellState.HIDDEN else text_of(one.points)
