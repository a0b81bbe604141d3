"""Wrong rules that were thought of, or that other graders have: each is put in place of the right one, and is noticed.

A test that cannot tell a wrong rule from the right one shows nothing. So each has a small class in which both differ.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from fractions import Fraction
from typing import Any

import pytest

from grader.rules import hand_in as handing_in
from grader.rules import line as lines
from grader.rules import times
from grader.rules.hand_in import Accepted
from grader.rules.line import Cell, Scored
from grader.rules.times import DueTime
from grader.rules.values import Assignment, Book, Count, Field, HandIn, Late, Result, ShareOf
from tests.rules.course import LATER, assignment, cell, course, granted, late, line, tried

Patch = pytest.MonkeyPatch
DUE = "2026-10-09T23:59"
BANKED = late("0.20", bank_max=2)


@dataclass(frozen=True)
class Wrong:
    """A wrong rule: how it is put in place, a number that tells it from the right one, and what is right."""

    rule: str
    put: Callable[[Patch], None]
    shows: Callable[[], Any]
    right: Any


def _points(book: Book, key: str = "A-1") -> str:
    return f"{float(cell(book, key).points or 0):.2f}"


def _charges(book: Book) -> list[int | None]:
    return [one.charged for one in line(book).cells.values()]


# ---- the numbers that tell


def _night_of_25_hours() -> str:
    return _points(tried(course(assignment(due="2026-10-31T23:59")), "2026-11-01T23:30"))


def _last_second_of_the_minute() -> str:
    return _points(tried(course(assignment(late=late(cutoff=0))), "2026-10-09T23:59:59"))


def _within_grace() -> str:
    return _points(tried(course(assignment(grace=15)), "2026-10-10T00:10"))


def _by_a_later_section() -> str:
    return _points(tried(course(assignment(section_due={"A2": "2026-10-10T23:59"}), section="A2"), "2026-10-10T20:00"))


def _after_a_move_of_section() -> str:
    book = tried(course(assignment(section_due={"A2": "2026-10-10T23:59"}), section="A2"), "2026-10-10T20:00")
    return _points(replace(book, members={"ada": replace(book.members["ada"], section="A1")}))


def _extended_afterwards() -> str:
    return _points(granted(tried(course(assignment()), "2026-10-11T12:00"), Field.DUE, "2026-10-11T23:59"))


def _better_and_later(count: Count = Count.BEST) -> str:
    return _points(tried(tried(course(assignment(count=count)), "2026-10-09T12:00", "85"), "2026-10-11T12:00"))


def _worse_and_last() -> str:
    return _points(tried(tried(course(assignment(count=Count.LAST)), "2026-10-07T12:00"), "2026-10-08T12:00", "80"))


def _half_earned() -> tuple[str, str]:
    policies = [late("0.25", of=of) for of in ShareOf]
    of_each = [_points(tried(course(assignment(late=one)), "2026-10-10T12:00", "80")) for one in policies]
    return of_each[0], of_each[1]


def _one_item_late() -> str:
    book = course(assignment(items={"softmax": "5", "causal": "5"}))
    return _points(tried(tried(book, "2026-10-09T12:00"), "2026-10-11T12:00", exercise="causal"))


def _two_halves_of_a_hundredth() -> str:
    book = course(assignment(items={"softmax": "4.5", "causal": "5.5"}))
    return _points(tried(tried(book, "2026-10-01T12:00", "95"), "2026-10-01T13:00", "95", exercise="causal"))


def _half_a_hundredth(score: str = "75.25") -> str:
    return _points(tried(course(assignment()), "2026-10-01T12:00", score))


def _attempts_used_by(**more: Any) -> Any:
    book = tried(course(assignment(attempts=1)), "2026-10-01T12:00", **more)
    return handing_in.hand_in(book, "ada", "A-1", "softmax", at=book.due("ada", book.assignments["A-1"]).at)


def _after_a_free_one() -> bool:
    return isinstance(_attempts_used_by(result=Result.FREE), Accepted)


def _after_one_set_aside() -> bool:
    return isinstance(_attempts_used_by(aside=True), Accepted)


def _set_aside() -> str:
    return _points(tried(tried(course(assignment()), "2026-10-01T12:00", "40"), "2026-10-02T12:00", aside=True))


def _excused() -> Any:
    return line(granted(course(assignment()), Field.EXCUSED, 1)).possible


def _joined_afterwards() -> Any:
    return line(course(assignment(), joined="2026-11-01T00:00")).possible


def _two_in_need(first: str = "100", **more: Any) -> Book:
    book = course(assignment(late=BANKED), assignment("A-2", "2026-10-20T23:59", late=BANKED), bank=2)
    return tried(tried(book, "2026-10-11T12:00", first, **more), "2026-10-22T12:00", key="A-2")


def _given_back_by_setting_aside() -> list[int | None]:
    return _charges(_two_in_need(aside=True))


def _given_back_by_a_better_one() -> list[int | None]:
    return _charges(tried(_two_in_need("10"), "2026-10-01T12:00", "90"))


def _of_two_classes() -> list[str]:
    here, there = (
        tried(course(assignment(key, late=BANKED), bank=2), "2026-10-11T12:00", key=key) for key in ("A", "B")
    )
    return [_points(one, key) for one, key in zip(_CLASSES(here, there), ("A", "B"), strict=True)]


def _at_its_ceiling() -> tuple[str, int | None]:
    book = tried(course(assignment(late=late("0.30", "0.40"))), "2026-10-12T12:00")
    return _points(book), cell(book).charged


def _without_gain() -> int | None:
    return cell(tried(course(assignment(late=late("0.50", "0.10", bank_max=1)), bank=4), "2026-10-11T12:00")).charged


def _both_items_late() -> int | None:
    book = course(assignment(items={"softmax": "5", "causal": "5"}, late=BANKED), bank=4)
    return cell(tried(tried(book, "2026-10-10T12:00"), "2026-10-11T12:00", exercise="causal")).charged


def _in_the_hour_that_comes_twice() -> str:
    book = course(assignment(due="2026-11-01T01:30"))
    due = DueTime(datetime(2026, 11, 1, 1, 30), book.zone)
    attempt = HandIn("h1", "A-1", "softmax", 1, _SECOND_0130, due, Result.GRADED, Fraction(100))
    return _points(replace(book, attempts={"ada": (attempt,)}))


_SECOND_0130 = 1_793_514_600_000  # 01:30 in New York for the second time, on 1 November 2026
_DAY_AFTER_SKIPPED = 1_805_009_460_000  # 03:31 on 14 March 2027, in milliseconds: 02:30 is skipped, and moves forward


def _a_day_later_in_the_hour_that_is_skipped() -> int:
    due = DueTime(datetime(2027, 3, 13, 2, 30), course(assignment()).zone)
    return due.boundary(1, 0)


def _shorter_extension() -> str:
    return _points(tried(granted(course(assignment()), Field.DUE, "2026-10-01T12:00"), "2026-10-09T20:00"))


def _withdrawn_extension() -> str:
    extended = granted(course(assignment()), Field.DUE, "2026-10-11T23:59")
    now = DueTime(datetime(2026, 10, 11, 12), extended.zone).at
    taken = handing_in.hand_in(extended, "ada", "A-1", "softmax", at=now)
    assert isinstance(taken, Accepted)
    return _points(replace(tried(extended, "2026-10-11T12:00", promise=taken.promise), exceptions={}))


def _lowered_limit() -> str:
    return _points(tried(tried(course(assignment(attempts=1)), "2026-10-01T12:00", "40"), "2026-10-02T12:00"))


def _tie_of_the_bank() -> list[str]:
    return list(line(course(assignment("A-2"), assignment("A-10"))).cells)


# ---- the wrong rules


def _method(of: type, name: str, wrong: Callable[..., Any]) -> Callable[[Patch], None]:
    return lambda patch: patch.setattr(of, name, wrong)


def _boundary(wrong: Callable[[DueTime, int, int], int]) -> Callable[[Patch], None]:
    return _method(DueTime, "boundary", wrong)


def _policy(wrong: Callable[[Late], Late]) -> Callable[[Patch], None]:
    right = lines.after_lateness

    def wronged(policy: Late, *more: Any, **named: Any) -> Any:
        return right(wrong(policy), *more, **named)

    return _method(lines, "after_lateness", wronged)  # type: ignore[arg-type]


def _cells(wrong: Callable[[Cell, Book, Assignment], Cell]) -> Callable[[Patch], None]:
    right = lines._cell

    def wronged(book: Book, person: str, one: Assignment, *more: Any, **named: Any) -> Cell:
        return wrong(right(book, person, one, *more, **named), book, one)

    return _method(lines, "_cell", wronged)  # type: ignore[arg-type]


def _counted(wrong: Callable[..., list[tuple[HandIn, int]]]) -> Callable[[Patch], None]:
    right = lines.counting

    def wronged(*given: Any, **named: Any) -> list[tuple[HandIn, int]]:
        return wrong(right, *given, **named)

    return _method(lines, "counting", wronged)  # type: ignore[arg-type]


def _spent_at_the_hand_in(found: Cell, book: Book, one: Assignment) -> Cell:
    late_by = [lines.days_late(one, each, book.due("ada", one)) for each in book.attempts_of("ada", one.key)]
    return replace(found, charged=min(max(late_by, default=0), one.late.bank_max, book.bank))


def _never_given_back(found: Cell, book: Book, one: Assignment) -> Cell:
    as_handed_in = _RIGHT_CELL(_unset(book), "ada", one, LATER, bank=2, full=False)
    return replace(found, charged=as_handed_in.charged)


def _unset(book: Book) -> Book:
    mine = tuple(replace(each, aside=False) for each in book.attempts.get("ada", ()))
    return replace(book, attempts={"ada": mine})


def _lateness_of_the_assignment(right: Any, book: Book, person: str, one: Assignment, *_: Any, **named: Any) -> Any:
    days = [late_by for name in one.items for _, late_by in right(book, person, one, name, **named)]
    return [(each, max(days)) for each, _late in right(book, person, one, *_, **named)]


def _rounded_items(scored: Scored) -> Scored:
    return replace(scored, points=lines.rounded(scored.points))


def _scores(wrong: Callable[[Scored], Scored]) -> Callable[[Patch], None]:
    right = lines._scored
    return _method(lines, "_scored", lambda *given, **named: wrong(right(*given, **named)))  # type: ignore[arg-type]


def _chosen(key: Callable[[Scored], Any]) -> Callable[[Patch], None]:
    return _method(lines, "_chosen", lambda scored, _count: max(scored, key=key))  # type: ignore[arg-type]


def _half_to_even(points: Fraction) -> Fraction:
    return Fraction(round(points * 100), 100)


def _as_floats(points: Fraction) -> Fraction:
    return Fraction(str(round(float(points), 2)))


def _due(wrong: Callable[[Book, str, Assignment], DueTime]) -> Callable[[Patch], None]:
    return _method(Book, "due", wrong)


def _without_section(book: Book, person: str, one: Assignment) -> DueTime:
    return _RIGHT_DUE(book, person, replace(one, section_due={}))


def _whatever_was_extended(book: Book, person: str, one: Assignment) -> DueTime:
    extension = book.granted(person, one.key, Field.DUE)
    return DueTime(extension.value, book.zone) if extension else _RIGHT_DUE(book, person, one)  # type: ignore[arg-type]


def _promise_of_the_section(patch: Patch) -> None:
    def wrong(days: int, due: DueTime) -> Accepted:
        return Accepted(days, replace(due, wall=datetime.fromisoformat(DUE)))

    patch.setattr(handing_in, "Accepted", wrong)


def _folded(fold: int) -> Callable[[Patch], None]:
    def wrong(wall: datetime, zone: Any) -> int:
        return round(1000 * wall.replace(tzinfo=zone, fold=fold).timestamp())

    return lambda patch: patch.setattr(times, "instant", wrong)


def _one_bank(patch: Patch) -> None:
    def together(here: Book, there: Book) -> list[Book]:
        moved = {name: replace(one, made=9) for name, one in there.assignments.items()}
        both = replace(
            here,
            assignments={**here.assignments, **moved},
            attempts={"ada": (*here.attempts["ada"], *there.attempts["ada"])},
        )
        return [both, both]

    patch.setitem(globals(), "_CLASSES", together)


def _CLASSES(here: Book, there: Book) -> list[Book]:  # noqa: N802 - what a wrong rule replaces
    return [here, there]


_RIGHT_DUE, _RIGHT_CELL, _RIGHT_BOUNDARY = Book.due, lines._cell, DueTime.boundary
WRONG_RULES = (
    Wrong("24-hour days", _boundary(lambda due, days, grace: due.at + days * 86_400_000 + (1 + grace) * 60_000),
          _night_of_25_hours, "9.00"),
    Wrong("due minute excluded", _boundary(lambda due, days, grace: _RIGHT_BOUNDARY(due, days, grace) - 60_000),
          _last_second_of_the_minute, "10.00"),
    Wrong("no grace", _boundary(lambda due, days, grace: _RIGHT_BOUNDARY(due, days, 0)), _within_grace, "10.00"),
    Wrong("section due ignored", _due(_without_section), _by_a_later_section, "10.00"),
    Wrong("present section only", _method(lines, "days_late", lambda one, each, due: due.days_late(each.at, one.grace)),
          _after_a_move_of_section, "10.00"),
    Wrong("extension not backwards",
          _method(lines, "days_late", lambda one, each, due: each.promise.days_late(each.at, one.grace)),
          _extended_afterwards, "10.00"),
    Wrong("best before penalty", _chosen(lambda one: one.earned), _better_and_later, "8.50"),
    Wrong("latest for best", _chosen(lambda one: one.attempt.at), _better_and_later, "8.50"),
    Wrong("best where last is set", _chosen(lambda one: one.points), _worse_and_last, "8.00"),
    Wrong("per cent of the other base",
          _policy(lambda one: replace(one, of=next(of for of in ShareOf if of is not one.of))),
          _half_earned, ("6.00", "5.50")),
    Wrong("lateness of the assignment, not the item", _counted(_lateness_of_the_assignment), _one_item_late, "9.00"),
    Wrong("rounding each item", _scores(_rounded_items), _two_halves_of_a_hundredth, "9.50"),
    Wrong("half to even", _method(lines, "rounded", _half_to_even), lambda: _half_a_hundredth("75.25"), "7.53"),
    Wrong("floats", _method(lines, "rounded", _as_floats), lambda: _half_a_hundredth("80.75"), "8.08"),
    Wrong("ungradable and ours cost attempts",
          _method(HandIn, "is_used", property(lambda one: one.result is not Result.CANCELLED)),
          _after_a_free_one, True),
    Wrong("aside ignored", _counted(lambda right, book, *more, **named: right(_unset(book), *more, **named)),
          _set_aside, "4.00"),
    Wrong("excused as zero", _method(Book, "is_excused", lambda *_: False), _excused, 0),
    Wrong("joining ignored", _method(Book, "is_assigned", lambda *_: True), _joined_afterwards, 0),
    Wrong("one bank for two classes", _one_bank, _of_two_classes, ["10.00", "10.00"]),
    Wrong("late days not given back", _cells(_never_given_back), _given_back_by_setting_aside, [0, 2]),
    Wrong("spent at hand-in", _cells(_spent_at_the_hand_in), _given_back_by_a_better_one, [0, 2]),
    Wrong("fold 0 for every wall time", _folded(0), _in_the_hour_that_comes_twice, "10.00"),
    Wrong("fold 1 for every wall time", _folded(1), _a_day_later_in_the_hour_that_is_skipped, _DAY_AFTER_SKIPPED),
    Wrong("an extension that shortens", _due(_whatever_was_extended), _shorter_extension, "10.00"),
    Wrong("a promise of the section only", _promise_of_the_section, _withdrawn_extension, "10.00"),
    Wrong("late days where they gain nothing",
          _cells(lambda found, _book, one: replace(found, charged=one.late.bank_max)), _without_gain, 0),
    Wrong("the sum of the items' days",
          _cells(lambda found, *_: replace(found, charged=sum(one.covered for one in found.items.values()))),
          _both_items_late, 2),
    Wrong("no ceiling", _policy(lambda one: replace(one, at_most=Fraction(1))), _at_its_ceiling, ("6.00", 0)),
    Wrong("set aside gives the attempt back",
          _method(HandIn, "is_used",
                  property(lambda one: not one.aside and one.result in (Result.OPEN, Result.GRADED))),
          _after_one_set_aside, False),
    Wrong("a limit that uncounts", _counted(lambda right, book, person, one, *more, **named:
                                            right(book, person, one, *more, **named)[: one.attempts]),
          _lowered_limit, "10.00"),
    Wrong("ties of the bank by the text of the key",
          _method(Book, "in_order", lambda book: sorted(book.assignments.values(), key=lambda one: (one.due, one.key))),
          _tie_of_the_bank, ["A-2", "A-10"]),
)  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG_RULES, ids=lambda one: one.rule)
def test_a_wrong_rule_gives_another_number_than_the_right_one(wrong: Wrong, monkeypatch: Patch) -> None:
    assert wrong.shows() == wrong.right
    wrong.put(monkeypatch)
    assert wrong.shows() != wrong.right
