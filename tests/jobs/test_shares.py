"""Whose turn it is, and what is charged."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from grader.errors import NotAllowed
from grader.jobs import claims, shares
from grader.jobs.engine import EmbeddedEngine
from grader.jobs.queue import Claim
from grader.jobs.shares import HOUSEHOLD, MEMBER, OUTSIDE, TURN, admit, charge, home, in_turn, member, order
from grader.jobs.table import TableJobs
from grader.store import tokens
from grader.store.engine import Database
from grader.store.records import SubmissionId, UserId
from tests.jobs.classroom import hand_in
from tests.service.conftest import Clock

ADA, BOB = member(UserId(1)), member(UserId(2))
HERE, THERE = home("192.0.2.1"), home("203.0.113.9")


@pytest.mark.parametrize(
    ("used", "expected"),
    [
        ({}, [ADA, HERE, BOB, THERE]),
        ({ADA: 3.0}, [HERE, BOB, THERE, ADA]),
        ({ADA: 3.0, BOB: 2.0}, [HERE, THERE, BOB, ADA]),
        ({OUTSIDE: 2.5, HERE: 2.5, ADA: 3.0, BOB: 2.0}, [BOB, THERE, HERE, ADA]),
        ({OUTSIDE: 9.0, HERE: 1.0, THERE: 8.0, ADA: 8.5}, [BOB, ADA, HERE, THERE]),
    ],
)
def test_the_next_turn_is_of_whoever_used_least(used: dict[str, float], expected: list[str]) -> None:
    """Where nothing else decides, of whoever came first; all outside stand in line as one, and among themselves."""
    first = {ADA: 1, HERE: 2, BOB: 3, THERE: 4}

    assert order(first, used) == expected


@pytest.mark.parametrize(("payer", "allowed"), [(ADA, MEMBER), (HERE, HOUSEHOLD)])
def test_who_has_used_their_seconds_is_told_how_many_and_until_when(
    database: Database, payer: str, allowed: shares.Allowance
) -> None:
    """What a run takes shows at its end, so the last one may go over; then they wait for as long as that takes."""
    seconds = allowed.seconds
    with database.write() as session:
        charge(session, payer, seconds.burst - 1.0, 1000.0)
        admit(session, payer, 100, 1000.0)
        charge(session, payer, 11.0, 1000.0)
        with pytest.raises(NotAllowed, match=rf"used {seconds.burst + 10} of {seconds.burst} seconds of grading"):
            admit(session, payer, 100, 1000.0)
        admit(session, payer, 100, 1000.0 + 11 * seconds.refill)


@pytest.mark.parametrize(("payer", "allowed"), [(ADA, MEMBER), (HERE, HOUSEHOLD)])
def test_what_costs_no_time_fills_no_disk(database: Database, payer: str, allowed: shares.Allowance) -> None:
    """A hand-in that ends at once is stored with its report; so many fit, and one more after a while."""
    each = 1024 + shares.REPORT_KIB
    with database.write() as session:
        for _ in range(allowed.kib.burst // each):
            admit(session, payer, 1024 << 10, 1000.0)
        with pytest.raises(NotAllowed, match=r"of disk lately\. There is room again in"):
            admit(session, payer, 1024 << 10, 1000.0)
        admit(session, payer, 1024 << 10, 1000.0 + each * allowed.kib.refill)


def test_a_household_can_have_only_so_many_runs_open(
    database: Database, engine: Callable[..., EmbeddedEngine], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Visitors cost nothing, and each may hand in to each exercise: 16 000 runs made each look at the queue slow.

    Others hand in all the same, and so does the household once one of its runs has ended.
    """
    monkeypatch.setattr(shares, "MOST_OPEN", 3)
    idle = engine()
    for number in range(3):
        hand_in(database, idle, f"{number}", payer=HERE)
    with database.write() as session:
        with pytest.raises(NotAllowed, match="that are open are 3 already"):
            admit(session, HERE, 100, 1000.0)
        for payer in (ADA, THERE):
            admit(session, payer, 100, 1000.0)
        claims.cancel(session, SubmissionId("0"), now=1000.0)
        admit(session, HERE, 100, 1000.0)


def test_turns_forget_soon_what_allowances_remember(database: Database) -> None:
    """Who has worked for ten minutes is first again after three; a run counts for a moment, however short it is."""
    with database.write() as session:
        for payer in (ADA, HERE):
            charge(session, payer, 500.0, 1000.0)
            assert tokens.seen(session, payer).missing == 500.0
            assert tokens.seen(session, f"turn {payer}").missing == TURN.burst
        charge(session, BOB, 0.0, 1000.0)

        assert tokens.seen(session, f"turn {BOB}").missing == shares.LEAST_SECONDS
        assert TURN.missing(tokens.seen(session, f"turn {ADA}"), 1200.0) == 0


@pytest.fixture
def clock() -> Clock:
    return Clock()


ENDS: dict[str, Callable[[TableJobs, Claim], object]] = {
    "overtaken": lambda jobs, claim: jobs.step_back(claim),
    "killed": lambda jobs, claim: jobs.step_back(claim, killed=True),
    "failed": lambda jobs, claim: jobs.retry(claim, 0.0),
    "cancelled": lambda jobs, claim: _cancel(jobs, claim.id),
    "searched for": lambda jobs, claim: jobs.charge(claim, 7.0),
}


def _cancel(jobs: TableJobs, id: SubmissionId) -> None:
    with jobs.database.write() as session:
        claims.cancel(session, id, now=jobs.clock())


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_every_end_is_charged_for(
    database: Database, engine: Callable[..., EmbeddedEngine], clock: Clock, end: Callable[[TableJobs, Claim], object]
) -> None:
    """The slot was held, whatever came of it; that of a verdict is in `tests/service/test_pools.py`."""
    hand_in(database, engine(), "s1", user="ada")
    jobs = TableJobs(database, "w", lambda: False, clock)
    clock.now = 2e9
    claim = jobs.take("cpu", "token", alone=False)
    assert claim is not None
    clock.now += 7
    end(jobs, claim)

    with database.read() as session:
        assert tokens.seen(session, claim.payer).missing == 7.0


def test_what_runs_now_counts_for_the_turn(
    database: Database, engine: Callable[..., EmbeddedEngine], clock: Clock
) -> None:
    """Who has a slot already comes after whoever has none, though nothing is charged yet."""
    one = engine()
    for n in range(2):
        hand_in(database, one, f"ada {n}", user="ada", exercise=f"e{n}")
    hand_in(database, one, "bob", user="bob", priority=9)
    jobs = TableJobs(database, "w", lambda: False, clock)
    clock.now = 2e9
    taken = []
    for n in range(3):
        claim = jobs.take("cpu", f"t{n}", alone=False)
        assert claim is not None
        taken.append(claim.id)

    assert taken == ["ada 0", "bob", "ada 1"]


def test_nothing_is_kept_of_whoever_has_used_nothing_lately(database: Database) -> None:
    """Full buckets go with the next charge."""
    with database.write() as session:
        for n in range(5):
            charge(session, member(UserId(n)), 1.0, 1000.0)
        charge(session, HERE, 1.0, 3000.0)

        assert [tokens.seen(session, member(UserId(n))) for n in range(5)] == [tokens.FULL] * 5
        assert in_turn(session, (), 3000.0) == []
