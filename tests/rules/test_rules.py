"""The rules of a class, one test for each sentence of docs/instructors.md and each wrong reading of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from fractions import Fraction

import pytest

from grader.rules.board import board
from grader.rules.hand_in import Accepted, NotAccepted, Practice, WhyNot, hand_in, may_set_aside, used
from grader.rules.line import CellState, line_of
from grader.rules.sentences import explain, two_decimals
from grader.rules.times import DueTime, zone_of
from grader.rules.values import Book, ClassMember, Count, Field, Result, ShareOf, Show
from grader.rules.visible import hidden_parts, is_visible, own_line
from tests.rules.course import LATER, NEW_YORK, assignment, at, cell, course, granted, late, line, tried

_DUE = "2026-10-09T23:59"


def _points(book: Book, key: str = "A-1") -> str | None:
    shown = cell(book, key).points
    return None if shown is None else two_decimals(shown)


def _due(book: Book) -> datetime:
    return book.due("ada", book.assignments["A-1"]).wall


# ---- the personal due time


def test_a_sections_due_time_replaces_the_classs_even_if_it_is_earlier() -> None:
    for own in ("2026-10-10T23:59", "2026-10-08T23:59"):
        assert _due(course(assignment(section_due={"A2": own}), section="A2")) == datetime.fromisoformat(own)
    assert _due(course(assignment(section_due={"A2": own}), section="A1")) == datetime.fromisoformat(_DUE)


def test_an_extension_never_shortens() -> None:
    for value, due in (("2026-10-12T12:00", "2026-10-12T12:00"), ("2026-10-01T12:00", _DUE)):
        assert _due(granted(course(assignment()), Field.DUE, value)) == datetime.fromisoformat(due)


def test_standing_days_lengthen_what_is_due_after_they_were_granted_and_add_nothing_to_an_extension() -> None:
    book = granted(course(assignment()), Field.STANDING_DAYS, 2, assignment=None)
    assert _due(book) == datetime(2026, 10, 11, 23, 59)
    assert _due(granted(book, Field.DUE, "2026-10-10T12:00")) == datetime(2026, 10, 11, 23, 59)
    too_late = granted(course(assignment()), Field.STANDING_DAYS, 2, assignment=None, when="2026-10-11T23:59")
    assert _due(too_late) == datetime.fromisoformat(_DUE)


def test_an_extension_that_is_granted_afterwards_works_backwards() -> None:
    book = tried(course(assignment()), "2026-10-11T12:00")
    assert _points(book) == "8.00"
    assert _points(granted(book, Field.DUE, "2026-10-11T23:59", when="2026-10-12T09:00")) == "10.00"


def test_a_promise_is_kept_whatever_is_moved_later() -> None:
    moved = {"due": datetime(2026, 10, 5, 23, 59)}
    book = tried(course(assignment()), "2026-10-09T20:00")
    earlier = replace(book, assignments={"A-1": replace(book.assignments["A-1"], **moved)})
    assert _points(earlier) == "10.00"
    assert _points(replace(book, zone=zone_of("Asia/Kathmandu"))) == "10.00"
    extended = granted(course(assignment()), Field.DUE, "2026-10-11T23:59")
    withdrawn = replace(tried(extended, "2026-10-11T12:00"), exceptions={})
    assert _points(withdrawn) == "10.00"


def test_grace_penalty_and_cutoff_are_the_present_ones() -> None:
    book = tried(course(assignment()), "2026-10-10T12:00")
    for change, points in (
        ({"grace": 1440}, "10.00"),
        ({"late": late("0.30")}, "7.00"),
        ({"late": late(cutoff=0)}, "0.00"),
        ({"items": {"softmax": Fraction(20)}}, "18.00"),
    ):
        changed = replace(book.assignments["A-1"], **change)  # type: ignore[arg-type]
        assert _points(replace(book, assignments={"A-1": changed})) == points


# ---- which attempts count


@pytest.mark.parametrize("result", [Result.FREE, Result.CANCELLED, Result.OPEN])
def test_only_what_was_graded_counts(result: Result) -> None:
    book = tried(course(assignment()), "2026-10-01T12:00", "40")
    assert _points(tried(book, "2026-10-02T12:00", result=result)) == "4.00"


def test_what_is_set_aside_does_not_count_and_stays_used() -> None:
    book = tried(tried(course(assignment()), "2026-10-01T12:00", "40"), "2026-10-02T12:00", aside=True)
    assert _points(book) == "4.00"
    assert used(book, "ada", "A-1", "softmax") == 2


def test_free_attempts_are_not_used_and_open_ones_are() -> None:
    book = course(assignment())
    for result in Result:
        book = tried(book, "2026-10-01T12:00", result=result)
    assert used(book, "ada", "A-1", "softmax") == 2


def test_later_than_the_cutoff_nothing_counts_and_without_one_everything_does() -> None:
    assert _points(tried(course(assignment()), "2026-10-13T00:00:00")) == "0.00"
    assert _points(tried(course(assignment(late=late(cutoff=None))), "2026-10-14T12:00")) == "5.00"


def test_a_lower_limit_uncounts_nothing() -> None:
    book = tried(tried(course(assignment(attempts=2)), "2026-10-01T12:00", "40"), "2026-10-02T12:00")
    assert _points(replace(book, assignments={"A-1": replace(book.assignments["A-1"], attempts=1)})) == "10.00"


# ---- penalty, and late days


@pytest.mark.parametrize(("of", "points"), [(ShareOf.EARNED, "6.40"), (ShareOf.POSSIBLE, "6.00")])
def test_a_penalty_is_of_what_was_earned_or_of_what_was_possible(of: ShareOf, points: str) -> None:
    assert _points(tried(course(assignment(late=late(of=of))), "2026-10-11T12:00", "80")) == points


def test_a_penalty_has_a_ceiling_and_points_are_never_negative() -> None:
    assert _points(tried(course(assignment(late=late("0.30", "0.40"))), "2026-10-12T12:00")) == "6.00"
    assert (
        _points(tried(course(assignment(late=late("0.30", of=ShareOf.POSSIBLE))), "2026-10-12T12:00", "50")) == "0.00"
    )


@pytest.mark.parametrize(("bank", "bank_max", "taken"), [(0, 3, 0), (4, 0, 0), (4, 1, 1), (1, 3, 1), (4, 3, 2)])
def test_late_days_cover_as_many_days_as_are_late_allowed_and_left(bank: int, bank_max: int, taken: int) -> None:
    book = tried(course(assignment(late=late(bank_max=bank_max)), bank=bank), "2026-10-11T12:00")
    assert (cell(book).charged, line(book).left) == (taken, bank - taken)
    assert cell(book).points == 10 - (2 - taken)


@pytest.mark.parametrize(
    ("policy", "score"),
    [
        (late(bank_max=3), "0"),  # zero points
        (late("0", bank_max=3), "100"),  # no penalty
        (late("0.50", "0.10", bank_max=1), "100"),  # the ceiling is reached with and without
    ],
)
def test_no_late_day_is_taken_where_it_gains_nothing(policy: object, score: str) -> None:
    book = tried(course(assignment(late=policy), bank=4), "2026-10-11T12:00", score)
    assert (cell(book).charged, line(book).left) == (0, 4)


def test_an_item_that_is_worth_nothing_takes_no_late_day() -> None:
    book = tried(course(assignment(items={"softmax": "0"}, late=late(bank_max=3)), bank=4), "2026-10-11T12:00")
    assert (cell(book).state, cell(book).charged) == (CellState.GRADED, 0)


def test_the_best_attempt_is_chosen_after_the_penalty() -> None:
    book = tried(tried(course(assignment()), "2026-10-09T12:00", "85"), "2026-10-11T12:00", "100")
    assert cell(book).items["softmax"].attempt.id == "h1"


def test_of_equal_points_fewer_late_days_count_then_the_earlier_one() -> None:
    book = course(assignment(late=late(bank_max=3)), bank=4)
    covered = tried(tried(book, "2026-10-11T12:00"), "2026-10-10T12:00")
    assert cell(covered).items["softmax"].attempt.id == "h2"
    equal = tried(tried(book, "2026-10-08T12:00"), "2026-10-07T12:00")
    assert cell(equal).items["softmax"].attempt.id == "h2"
    same = tried(tried(book, "2026-10-08T12:00"), "2026-10-08T12:00")
    assert cell(same).items["softmax"].attempt.id == "h1"


def test_points_are_compared_before_they_are_rounded() -> None:
    book = course(assignment(items={"softmax": "0.01"}))
    assert (
        cell(tried(tried(book, "2026-10-01T12:00", "60"), "2026-10-02T12:00", "61")).items["softmax"].attempt.id == "h2"
    )


def test_where_the_last_counts_it_counts_with_whatever_it_costs() -> None:
    book = tried(tried(course(assignment(count=Count.LAST)), "2026-10-09T12:00"), "2026-10-11T12:00", "50")
    assert _points(book) == "4.00"


# ---- the assignment, and the bank


def test_items_are_added_up_and_rounded_once_half_up() -> None:
    book = course(assignment(items={"softmax": "5.5", "causal": "4.5"}))
    book = tried(tried(book, "2026-10-01T12:00", "55"), "2026-10-01T13:00", "55", exercise="causal")
    assert _points(book) == "5.50"  # 3.025 and 2.475
    half = tried(course(assignment(items={"softmax": "5.5"})), "2026-10-01T12:00", "55")
    assert _points(half) == "3.03"


def test_an_item_that_was_not_handed_in_has_no_points() -> None:
    book = tried(course(assignment(items={"softmax": "5", "causal": "5"})), "2026-10-01T12:00")
    assert (_points(book), list(cell(book).items)) == ("5.00", ["softmax"])


def test_each_item_has_its_own_lateness_and_the_assignment_takes_the_most_of_them() -> None:
    book = course(assignment(items={"softmax": "5", "causal": "5", "heads": "5"}, late=late(bank_max=3)), bank=4)
    book = tried(tried(book, "2026-10-10T12:00"), "2026-10-11T12:00", exercise="causal")
    book = tried(book, "2026-10-09T12:00", exercise="heads")
    assert [cell(book).items[one].covered for one in ("softmax", "causal", "heads")] == [1, 2, 0]
    assert (cell(book).charged, line(book).left) == (2, 2)


def test_the_bank_goes_through_the_assignments_by_the_classs_due_time_then_as_they_were_made() -> None:
    policy = late(bank_max=3)
    first, second = (
        assignment("A-10", late=policy),
        assignment("A-2", late=policy, section_due={"A2": "2026-10-01T23:59"}),
    )
    book = course(first, second, bank=2, section="A2")
    book = tried(tried(book, "2026-10-11T12:00", key="A-10"), "2026-10-03T12:00", key="A-2")
    assert list(line(book).cells) == ["A-10", "A-2"]
    assert [one.charged for one in line(book).cells.values()] == [2, 0]


def test_extra_days_lengthen_the_bank_and_what_is_not_taken_comes_back() -> None:
    policy = late("0.20", bank_max=2)
    book = course(assignment(late=policy), assignment("A-2", "2026-10-20T23:59", late=policy), bank=1)
    book = granted(book, Field.BANK_DAYS, 2, assignment=None)
    book = tried(tried(book, "2026-10-11T12:00"), "2026-10-22T12:00", key="A-2")
    assert ([one.charged for one in line(book).cells.values()], line(book).start, line(book).left) == ([2, 1], 3, 0)
    attempts = (replace(book.attempts["ada"][0], aside=True), book.attempts["ada"][1])
    assert [one.charged for one in line(replace(book, attempts={"ada": attempts})).cells.values()] == [0, 2]


def test_an_override_replaces_the_points_and_nothing_else() -> None:
    book = tried(course(assignment(late=late(bank_max=3)), bank=4), "2026-10-11T12:00", "50")
    changed = replace(book, overrides={("ada", "A-1"): Fraction("9.5")})
    assert (cell(changed).points, cell(changed).computed, cell(changed).charged) == (Fraction("9.5"), 5, 2)
    assert line(changed).total == Fraction("9.5")


@pytest.mark.parametrize("joined", ["2026-09-01T00:00", "2026-11-01T00:00"])
@pytest.mark.parametrize("now", ["2026-10-01T00:00", "2026-12-01T00:00"])
def test_an_override_counts_where_nothing_was_handed_in(joined: str, now: str) -> None:
    book = replace(course(assignment(), joined=joined), overrides={("ada", "A-1"): Fraction(7)})
    assert (line(book, at(now)).total, line(book, at(now)).possible) == (7, 10)


# ---- states


def test_who_is_excused_has_no_points_and_none_possible() -> None:
    book = granted(tried(course(assignment(late=late(bank_max=3)), bank=4), "2026-10-11T12:00"), Field.EXCUSED, 1)
    assert (cell(book).state, cell(book).points, line(book).possible, line(book).left) == (
        CellState.EXCUSED,
        None,
        0,
        4,
    )
    assert line(book).percent is None


@pytest.mark.parametrize(
    ("joined", "state"), [("2026-10-09T23:59:59", CellState.MISSING), ("2026-10-10T00:00", CellState.NOT_ASSIGNED)]
)
def test_what_was_due_before_somebody_joined_is_not_assigned(joined: str, state: CellState) -> None:
    assert cell(course(assignment(), joined=joined)).state is state


def test_an_extension_assigns_it_and_what_was_handed_in_under_one_keeps_it() -> None:
    book = granted(course(assignment(), joined="2026-10-20T00:00"), Field.DUE, "2026-10-25T23:59")
    assert cell(book).state is CellState.MISSING
    kept = replace(tried(book, "2026-10-24T12:00", "90"), exceptions={})
    assert (cell(kept).state, cell(kept).points) == (CellState.GRADED, 9)


@pytest.mark.parametrize(
    ("cutoff", "ends"), [(3, "2026-10-13T00:00"), (0, "2026-10-10T00:00"), (None, "2026-10-10T00:00")]
)
def test_it_is_blank_until_the_cutoff_and_missing_from_then_on(cutoff: int | None, ends: str) -> None:
    book = course(assignment(late=late(cutoff=cutoff)))
    assert [cell(book, now=at(ends) + more).state for more in (-1, 0)] == [CellState.BLANK, CellState.MISSING]
    assert [line(book, at(ends) + more).possible for more in (-1, 0)] == [0, 10]


def test_the_percent_is_of_the_cells_that_have_points() -> None:
    book = course(assignment(), assignment("A-2", "2027-07-01T12:00", items={"softmax": "90"}))
    book = tried(book, "2026-10-01T12:00", "66.67")
    assert line(book).percent == Fraction("66.70")  # 6.667 was rounded to 6.67


# ---- hand-ins


def _handed_in(
    book: Book, when: str, person: str = "ada", key: str | None = "A-1", exercise: str = "softmax"
) -> object:
    return hand_in(book, person, key, exercise, at=at(when))


def test_hand_ins_are_refused_in_the_order_of_the_rules() -> None:
    book = course(assignment(attempts=1, opens="2026-09-14T00:00"))
    away = replace(book, members={"ada": replace(book.members["ada"], present=False)})
    assert _handed_in(away, "2026-09-20T00:00", exercise="none") == NotAccepted(WhyNot.NOT_MEMBER)
    assert _handed_in(book, "2026-09-20T00:00", person="iris", exercise="none") == Practice()
    assert _handed_in(book, "2026-09-20T00:00", key=None) == Practice()
    for key, exercise in (("A-9", "softmax"), ("A-1", "none")):
        assert _handed_in(book, "2026-09-01T00:00", key=key, exercise=exercise) == NotAccepted(WhyNot.UNKNOWN)
    late_comer = replace(book, members={"ada": ClassMember("ada", "Ada", "", at("2026-10-20T00:00"))})
    assert _handed_in(late_comer, "2026-10-21T00:00") == Practice()
    assert _handed_in(book, "2026-09-13T23:59:59") == NotAccepted(WhyNot.NOT_OPEN)
    full = tried(book, "2026-09-20T00:00")
    assert _handed_in(full, "2026-10-13T00:00") == NotAccepted(WhyNot.CLOSED)
    assert _handed_in(full, "2026-10-01T00:00") == NotAccepted(WhyNot.NO_ATTEMPTS, used=1)
    promise = DueTime(datetime.fromisoformat(_DUE), NEW_YORK)
    assert _handed_in(granted(full, Field.ATTEMPTS, 1), "2026-10-10T12:00") == Accepted(1, promise)
    assert _handed_in(granted(book, Field.EXCUSED, 1), "2026-10-01T00:00") == Accepted(0, promise)


def test_an_attempt_may_be_set_aside_until_nothing_is_taken_any_more() -> None:
    book = course(assignment())
    closed = at("2026-10-13T00:00")
    assert [may_set_aside(book, "ada", book.assignments["A-1"], closed + more) for more in (-1, 0)] == [True, False]
    longer = granted(book, Field.DUE, "2026-10-20T23:59")
    assert may_set_aside(longer, "ada", longer.assignments["A-1"], closed)
    endless = course(assignment(late=late(cutoff=None)))
    assert may_set_aside(endless, "ada", endless.assignments["A-1"], LATER)


# ---- what a student sees


@pytest.mark.parametrize(
    ("show", "seen_from"),
    [
        (Show.AT_ONCE, "2026-01-01T00:00"),
        (Show.AFTER_DUE, "2026-10-12T00:00"),  # their own due time
        (Show.AFTER_CUTOFF, "2026-10-15T00:00"),
        (Show.AFTER_PUBLICATION, "2026-11-01T12:00"),
    ],
)
@pytest.mark.parametrize("part", [{}, {"masking": Show.AT_ONCE}])
def test_results_are_shown_from_then_on(show: Show, seen_from: str, part: dict[str, Show]) -> None:
    one = assignment(show=show, published=at("2026-11-01T12:00"), show_checks=part)
    book = granted(course(one), Field.DUE, "2026-10-11T23:59")
    assert [is_visible(book, "ada", one, at(seen_from) + more) for more in (-1, 0)] == [show is Show.AT_ONCE, True]


def test_what_is_held_back_or_never_shown_stays_hidden_and_a_part_hides_the_score() -> None:
    for one in (
        assignment(show=Show.NEVER, published=at("2026-11-01T12:00")),
        assignment(show=Show.AFTER_PUBLICATION),
        assignment(show=Show.AFTER_PUBLICATION, published=at("2026-11-01T12:00"), held=frozenset({"ada"})),
        assignment(show_checks={"masking": Show.NEVER}),
    ):
        book = course(one)
        assert not is_visible(book, "ada", one, LATER)


def test_parts_of_a_report_are_shown_later_than_the_rest_by_ones_own_due_time() -> None:
    one = assignment(show_checks={"masking": Show.AFTER_DUE, "shapes": Show.AT_ONCE, "memory": Show.NEVER})
    book, due = granted(course(one), Field.DUE, "2026-10-11T23:59"), at("2026-10-12T00:00")
    assert [hidden_parts(book, "ada", one, due + more) for more in (-1, 0)] == [{"masking", "memory"}, {"memory"}]


def test_nothing_that_a_student_sees_depends_on_a_hidden_result() -> None:
    policy = late("0.20", bank_max=2)
    hidden = assignment(late=policy, show=Show.AFTER_PUBLICATION)
    shown = assignment("A-2", "2026-10-20T23:59", late=policy)
    empty = course(hidden, shown, bank=2)
    lines = set()
    for score, result in (("0", Result.GRADED), ("100", Result.GRADED), ("50", Result.FREE), ("0", Result.OPEN)):
        book = tried(tried(empty, "2026-10-11T12:00", score, result=result), "2026-10-22T12:00", key="A-2")
        line = own_line(book, "ada", LATER)
        seen = line.cells["A-2"].points, line.cells["A-2"].charged, line.left, line.total, line.possible, line.percent
        lines.add(seen)
        assert (line.cells["A-1"].state, line.cells["A-1"].points, line.cells["A-1"].charged) == (
            CellState.HIDDEN,
            None,
            None,
        )
        assert not line.cells["A-1"].items
    assert lines == {(6, 0, 0, 6, 10, Fraction(60))}


# ---- the board


def _class(book: Book, **attempts: list[tuple[str, str]]) -> Book:
    for person, made in attempts.items():
        book = replace(book, members={**book.members, person: ClassMember(person, person, "", 0)})
        for when, score in made:
            mine = tried(replace(book, attempts={"ada": book.attempts.get(person, ())}), when, score)
            book = replace(book, attempts={**book.attempts, person: mine.attempts["ada"]})
    return book


def test_a_board_ranks_by_score_then_fewer_attempts_then_earlier_and_equal_ones_share_a_rank() -> None:
    one = assignment()
    book = _class(
        course(one),
        ada=[],
        ben=[("2026-10-01T12:00", "100")],
        cleo=[("2026-09-01T12:00", "50"), ("2026-09-02T12:00", "100")],
        dov=[("2026-10-01T12:00", "100")],
        eve=[("2026-09-30T12:00", "100"), ("2026-10-02T12:00", "20")],
        fay=[("2026-10-11T12:00", "99")],
    )
    rows = [(row.rank, row.person, row.attempts) for row in board(book, one, "softmax", LATER)]
    assert rows == [(1, "eve", 1), (2, "ben", 1), (2, "dov", 1), (4, "cleo", 2), (5, "fay", 1)]


def test_on_a_board_are_those_who_are_present_not_excused_and_see_their_own_score() -> None:
    one = assignment(show=Show.AFTER_PUBLICATION, published=at("2026-11-01T12:00"), held=frozenset({"dov"}))
    tries = [("2026-10-01T12:00", "100")]
    book = _class(course(one), ben=tries, cleo=tries, dov=tries, ada=tries)
    book = granted(book, Field.EXCUSED, 1)
    book = replace(book, members={**book.members, "cleo": replace(book.members["cleo"], present=False)})
    assert [row.person for row in board(book, one, "softmax", LATER)] == ["ben"]
    assert board(book, one, "softmax", at("2026-11-01T11:59")) == []


# ---- the sentence behind a number


@pytest.mark.parametrize(
    ("policy", "bank", "when", "sentence"),
    [
        (late(), 0, "2026-10-01T12:00", "5.5 × 90 % = 4.95"),
        (late(), 0, "2026-10-12T12:00", "5.5 × 90 % = 4.95; 3 days late, none from the bank, −30 % = 3.465"),
        (late(bank_max=3), 4, "2026-10-10T12:00", "5.5 × 90 % = 4.95; 1 day late, all from the bank"),
        (
            late(bank_max=2, of=ShareOf.POSSIBLE),
            4,
            "2026-10-12T12:00",
            "5.5 × 90 % = 4.95; 3 days late, 2 from the bank, −10 % of 5.5 = 4.4",
        ),
        (
            late("0.20", "0.25"),
            0,
            "2026-10-12T12:00",
            "5.5 × 90 % = 4.95; 3 days late, none from the bank, −25 % (the most that lateness costs) = 3.7125",
        ),
        (
            late("0"),
            0,
            "2026-10-12T12:00",
            "5.5 × 90 % = 4.95; 3 days late, none from the bank, which costs nothing here",
        ),
    ],
)
def test_a_number_explains_itself(policy: object, bank: int, when: str, sentence: str) -> None:
    book = tried(course(assignment(items={"softmax": "5.5"}, late=policy), bank=bank), when, "90")
    assert explain(book.assignments["A-1"], cell(book)) == sentence


def test_every_state_and_an_override_explain_themselves() -> None:
    one = assignment(items={"softmax": "5", "causal": "5"})
    book = replace(tried(course(one), "2026-10-01T12:00", "90"), overrides={("ada", "A-1"): Fraction(7)})
    told = "softmax: 5 × 90 % = 4.5; causal: nothing that counts, 0; together 4.50; replaced by 7.00 by an instructor"
    assert explain(one, cell(book)) == told
    assert explain(one, cell(course(one))).endswith("it is too late now")
    assert explain(one, cell(course(one), now=0)).endswith("so far")
    assert explain(one, cell(granted(course(one), Field.EXCUSED, 1))).startswith("excused")
    assert "joined" in explain(one, cell(course(one, joined="2026-12-01T00:00")))
    hidden = line_of(course(one), "ada", LATER, is_hidden=lambda _: True).cells["A-1"]
    assert explain(one, hidden) == "not published yet"
