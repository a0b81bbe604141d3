"""What a student is told before the click, in words."""

from __future__ import annotations

import pytest

from grader.rules.hand_in import WhyNot
from grader.rules.offer import Offer, offer
from grader.rules.sentences import cost_of
from grader.rules.values import Book, Result, ShareOf, Show
from tests.rules.course import assignment, at, course, late, tried

ONE_LATE, TWO_LATE = "2026-10-10T12:00", "2026-10-11T12:00"


def _offer(book: Book, when: str) -> Offer:
    return offer(book, "ada", book.assignments["A-1"], "softmax", at=at(when))


@pytest.mark.parametrize(
    ("policy", "bank", "when", "said"),
    [
        (late("0.2", bank_max=2), 4, "2026-10-09T23:59", "in time"),
        (late("0.2", bank_max=2), 4, TWO_LATE, "2 days late, both from your bank of 4; without late days −40 %"),
        (late("0.2", bank_max=2), 4, ONE_LATE, "1 day late, taken from your bank of 4; without late days −20 %"),
        (late("0.2", bank_max=2), 1, TWO_LATE,
         "2 days late, 1 of them from your bank of 1, −20 %; without late days −40 %"),
        (late("0.2"), 4, TWO_LATE, "2 days late, −40 %"),
        (late("0.2", of=ShareOf.POSSIBLE), 0, TWO_LATE, "2 days late, −40 % of what the exercise is worth"),
        (late("0"), 0, TWO_LATE, "2 days late, which costs nothing here"),
        (late("0.2", at_most="0.3"), 0, TWO_LATE, "2 days late, −30 %"),
    ],
)  # fmt: skip
def test_a_hand_in_costs_what_the_sentence_says(policy: object, bank: int, when: str, said: str) -> None:
    assert cost_of(_offer(course(assignment(late=policy), bank=bank), when)) == said


def test_late_days_of_earlier_assignments_are_no_longer_offered() -> None:
    book = course(
        assignment("A-0", due="2026-09-20T23:59", late=late(bank_max=2)), assignment(late=late(bank_max=2)), bank=3
    )
    book = tried(book, "2026-09-22T12:00", key="A-0")

    assert (_offer(book, TWO_LATE).bank, _offer(book, TWO_LATE).covered) == (1, 1)


def test_what_is_offered_tells_nothing_of_a_hidden_result() -> None:
    """Neither how many late days a hidden attempt took, nor whether it could be graded."""
    hidden = assignment("A-0", due="2026-09-20T23:59", late=late(bank_max=2), show=Show.NEVER)
    before = course(hidden, assignment(late=late(bank_max=2)), bank=3)
    results = [{"score": "100"}, {"score": "0"}, {"result": Result.FREE}]
    offers = [_offer(tried(before, "2026-09-22T12:00", key="A-0", **one), TWO_LATE) for one in results]

    assert offers[0] == offers[1] == offers[2]
    assert offers[0].bank == 1


def test_attempts_that_are_left_are_counted_down_to_none() -> None:
    book = tried(course(assignment(attempts=2)), "2026-10-01T12:00")
    last = tried(book, "2026-10-02T12:00")

    assert (_offer(book, "2026-10-03T12:00").attempts_left, _offer(last, "2026-10-03T12:00").attempts_left) == (1, 0)
    assert _offer(last, "2026-10-03T12:00").taken.code is WhyNot.NO_ATTEMPTS


def test_attempts_that_are_left_tell_nothing_of_a_hidden_result() -> None:
    book = course(assignment(attempts=3, show=Show.NEVER))
    results = [{"score": "100"}, {"result": Result.FREE}, {"result": Result.OPEN, "score": 0}]
    left = [_offer(tried(book, "2026-10-01T12:00", **one), "2026-10-03T12:00").attempts_left for one in results]

    assert left == [2, 2, 2]
