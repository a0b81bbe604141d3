"""The rules against a second implementation, whose author has read the rules' text alone, on random terms."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from fractions import Fraction
from typing import Any

import pytest

from grader.rules import preview
from grader.rules.board import board
from grader.rules.hand_in import NotAccepted, Practice, hand_in, may_set_aside
from grader.rules.line import Cell, GradeLine, compute
from grader.rules.sentences import exact, two_decimals
from grader.rules.times import DueTime, zone_of
from grader.rules.values import (
    Assignment,
    Book,
    ClassMember,
    Count,
    Field,
    Granted,
    HandIn,
    Late,
    Result,
    ShareOf,
    Show,
)  # fmt: skip
from grader.rules.visible import own_line
from tests.rules import second
from tests.rules.terms import random_term


@pytest.mark.parametrize("seeds", [range(first, first + 40) for first in range(0, 400, 40)], ids=str)
def test_a_second_implementation_agrees_on_random_terms(seeds: range) -> None:
    _compare(seeds)


def _compare(seeds: range) -> None:
    for seed in seeds:
        for number, (facts, now) in enumerate(random_term(seed)):
            where, book = f"seed {seed}, snapshot {number}", book_of(facts)
            ours = {person: _line(line) for person, line in compute(book, now).items()}
            assert ours == second.gradebook(facts, now), where
            for person in book.members:
                assert _line(own_line(book, person, now)) == second.own(facts, person, now), where
            for assignment in book.assignments.values():
                for exercise in assignment.items:
                    _compare_item(facts, book, (assignment, exercise), now)
            assert _statistics(book, now) == second.statistics(facts, now), where


def _compare_item(facts: dict[str, Any], book: Book, item: tuple[Assignment, str], now: int) -> None:
    assignment, exercise = item
    rows = [
        {
            "rank": row.rank,
            "person": row.person,
            "score": two_decimals(row.score),
            "attempts": row.attempts,
            "at": row.at,
        }
        for row in board(book, assignment, exercise, now)
    ]
    assert rows == second.board(facts, assignment.key, exercise, now)
    for person in book.members:
        done = hand_in(book, person, assignment.key, exercise, at=now)
        theirs = second.hand_in(facts, person, assignment.key, exercise, now)
        if isinstance(done, NotAccepted):
            told: dict[str, Any] = {"code": done.code.value} | ({} if done.used is None else {"used": done.used})
        elif isinstance(done, Practice):
            told = {"code": "practice"}
        else:
            told, theirs = {"code": "taken", "days_late": done.days_late}, _without(theirs, "promise_due")
        assert told == theirs
        aside = may_set_aside(book, person, assignment, now)
        assert aside == second.may_set_aside(facts, person, assignment.key, now)


def _without(row: Mapping[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != key}


def book_of(facts: dict[str, Any]) -> Book:
    """Return a class from plain facts."""
    attempts: dict[str, tuple[HandIn, ...]] = {}
    for row in facts["attempts"]:
        attempts[row["person"]] = (*attempts.get(row["person"], ()), _attempt(row))
    return Book(
        zone_of(facts["zone"]),
        facts["bank"],
        {row["key"]: _assignment(row, number) for number, row in enumerate(facts["assignments"])},
        {
            row["person"]: ClassMember(
                row["person"], row["person"], row["section"] or "", row["joined"], row["present"]
            )
            for row in facts["members"]
        },
        attempts,
        {
            (row["person"], row["assignment"], Field(row["field"])): Granted(_value(row["value"]), row["at"])
            for row in facts["exceptions"]
        },
        {(row["person"], row["assignment"]): Fraction(row["points"]) for row in facts["overrides"]},
    )


def _value(value: Any) -> datetime | int:
    return datetime.fromisoformat(value) if isinstance(value, str) else int(value)


def _assignment(row: dict[str, Any], made: int) -> Assignment:
    late = row["late"]
    wall = datetime.fromisoformat
    return Assignment(
        row["key"],
        {name: Fraction(weight) for name, weight in row["items"].items()},
        wall(row["opens"]),
        wall(row["due"]),
        made,
        section_due={name: wall(due) for name, due in row["section_due"].items()},
        grace=row["grace"],
        late=Late(
            Fraction(late["per_day"]), Fraction(late["at_most"]), ShareOf(late["of"]), late["bank_max"], late["cutoff"]
        ),
        count=Count(row["count"]),
        attempts=row["attempts"],
        show=Show(row["show"]),
        published=row["published"],
        held=frozenset(row["held"]),
    )


def _attempt(row: dict[str, Any]) -> HandIn:
    promise = DueTime(datetime.fromisoformat(row["promise_due"]), zone_of(row["promise_zone"]))
    score = None if row["score"] is None else Fraction(row["score"])
    return HandIn(
        row["id"], row["assignment"], row["exercise"], row["number"], row["at"], promise, Result(row["result"]), score,
        aside=row["aside"],
    )  # fmt: skip


def _line(line: GradeLine) -> dict[str, Any]:
    return {
        "cells": {key: _cell(cell) for key, cell in line.cells.items()},
        "total": two_decimals(line.total),
        "possible": two_decimals(line.possible),
        "percent": _two(line.percent),
        "bank": {"start": line.start, "left": line.left},
    }


def _cell(cell: Cell) -> dict[str, Any]:
    items = {
        exercise: {
            "attempt": one.attempt.id,
            "score": _two(one.attempt.score),
            "days_late": one.days_late,
            "covered": one.covered,
            "points": exact(one.points),
        }
        for exercise, one in cell.items.items()
    }
    numbers = {"points": _two(cell.points), "computed": _two(cell.computed), "override": _two(cell.override)}
    return {"state": cell.state.value, **numbers, "charged": cell.charged, "items": items}


def _two(value: Fraction | None) -> str | None:
    return None if value is None else two_decimals(value)


def _statistics(book: Book, now: int) -> dict[str, Any]:
    lines = [line for person, line in compute(book, now).items() if book.members[person].present]
    sections = sorted({book.members[line.person].section for line in lines} - {""})
    of = {name: [line for line in lines if book.members[line.person].section == name] for name in sections}
    return {
        "percent": _figures(preview.percents(lines)),
        "sections": {name: dict(list(_figures(preview.percents(some)).items())[:3]) for name, some in of.items()},
        "assignments": {key.key: _figures(preview.points(lines, book, key.key)) for key in book.in_order()},
    }


def _figures(one: preview.Statistics) -> dict[str, Any]:
    return {"n": one.n, "mean": _two(one.mean), "median": _two(one.median), "full": one.full, "zero": one.zero}
