"""Token buckets, in memory and shared in the database."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from sqlalchemy import func, select

from grader.service import limits
from grader.service.limits import FORGET_EVERY, Buckets, SharedBuckets, limiters
from grader.store import migrate
from grader.store.engine import Database
from grader.store.tables import BucketRow
from grader.store.tokens import Rate, Spent
from tests.jobs.classroom import open_database
from tests.jobs.postgres import make_database, served
from tests.service.conftest import Clock


def test_a_bucket_empties_and_fills_again(clock: Clock) -> None:
    """A burst, then one token for each period; the answer tells how long to wait."""
    buckets = Buckets(2, 8.0, clock=clock)
    waits = [buckets.take("a") for _ in range(3)]
    clock.now += 4
    waits.append(buckets.take("a"))
    clock.now += 4
    waits.append(buckets.take("a"))

    assert waits == [0.0, 0.0, 8.0, 4.0, 0.0]


def test_keys_do_not_share(clock: Clock) -> None:
    """One key's spending is no other's."""
    buckets = Buckets(1, 10.0, clock=clock)
    buckets.take("a")

    assert buckets.take("b") == 0.0


def test_giving_back_never_overfills(clock: Clock) -> None:
    """A full bucket stays full."""
    buckets = Buckets(1, 10.0, clock=clock)
    buckets.give("a")

    assert [buckets.take("a"), buckets.take("a")] == [0.0, 10.0]


def test_more_than_a_bucket_holds_is_taken_from_a_full_one(clock: Clock) -> None:
    """Who takes it waits for as much longer."""
    buckets = Buckets(2, 1.0, clock=clock)

    assert [buckets.take("a", 5.0), buckets.take("a", 1.0)] == [0.0, 4.0]


@pytest.fixture(scope="module")
def postgres() -> Iterator[tuple[Database, Database]]:
    with served() as server:
        url = make_database(server, "limits")
        two = Database(url), Database(url)
        migrate.upgrade(two[0])
        yield two
        for one in two:
            one.close()


@pytest.fixture
def file(tmp_path) -> Iterator[Database]:
    database = open_database(tmp_path)
    yield database
    database.close()


def test_shared_buckets_count_as_those_in_memory_do(file: Database, clock: Clock) -> None:
    """The same steps give the same answers, those of a clock that is set back among them."""
    shared, own = SharedBuckets(file, clock, "guesses", 2, 8.0), Buckets(2, 8.0, clock=clock)
    answers = []
    for seconds in (0, 0, 0, 4, 4, 1, -100, 50, 30):
        clock.now += seconds
        answers.append([(one.wait("a"), one.take("a"), one.give("b"), one.take("b")) for one in (shared, own)])

    assert all(first == second for first, second in answers)
    assert {wait > 0 for (_, wait, _, _), _ in answers} == {True, False}


def test_what_is_counted_apart_is_apart(file: Database, clock: Clock) -> None:
    """Another name, or another key."""
    SharedBuckets(file, clock, "guesses", 1, 8.0).take("a")

    assert SharedBuckets(file, clock, "guesses", 1, 8.0).take("a") == 8.0
    assert SharedBuckets(file, clock, "guesses", 1, 8.0).take("b") == 0
    assert SharedBuckets(file, clock, "renames", 1, 8.0).take("a") == 0


def test_full_buckets_are_forgotten(file: Database, clock: Clock) -> None:
    """Whoever guesses from very many addresses fills no disk; what is still missing somewhere stays."""
    buckets = SharedBuckets(file, clock, "guesses", 1, 8.0)
    for n in range(FORGET_EVERY - 2):
        buckets.take(f"address {n}")
    clock.now += 9
    buckets.take("still missing")
    buckets.take("one more")

    with file.read() as session:
        assert session.scalar(select(func.count()).select_from(BucketRow)) == 2
    assert buckets.take("still missing") == 8.0


def test_nobody_reads_names_or_addresses_out_of_them(file: Database, clock: Clock) -> None:
    """A key is kept as its digest."""
    SharedBuckets(file, clock, "guesses", 1, 8.0).take("192.0.2.1 ada")

    with file.engine.connect() as connection:
        dump = "\n".join(connection.connection.dbapi_connection.iterdump())  # type: ignore[union-attr]
    assert "ada" not in dump
    assert "192.0.2" not in dump


def test_one_process_keeps_its_limits_to_itself(file: Database, clock: Clock) -> None:
    """On a file, where only one process serves pages, nothing is written for a try."""
    assert isinstance(limiters(file, clock)("guesses", 1, 8.0), Buckets)


def test_of_many_at_once_as_many_get_through_as_may(postgres: tuple[Database, Database], clock: Clock) -> None:
    """Forty in two processes take from eight, also while others are forgotten; the clock is the server's."""
    sides = [limiters(database, clock)("guesses", 8, 3600.0) for database in postgres]
    start, waits = threading.Barrier(40), []

    def guess(number: int) -> None:
        start.wait()
        waits.append(sides[number % 2].take("ada"))

    threads = [threading.Thread(target=guess, args=(number,)) for number in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [wait == 0 for wait in sorted(waits)] == [True] * 8 + [False] * 32
    sides[0].give("ada")
    assert sides[1].take("ada") == 0


def test_a_take_costs_the_same_however_many_buckets_are_not_full(monkeypatch: pytest.MonkeyPatch) -> None:
    """Guessed names at a used-up address are such buckets, ten thousand at a time; each take looked at them all."""
    looks, missing = 0, Rate.missing

    def counted(rate: Rate, spent: Spent, now: float) -> float:
        nonlocal looks
        looks += 1
        return missing(rate, spent, now)

    monkeypatch.setattr(limits, "CROWD", 50)
    monkeypatch.setattr(Rate, "missing", counted)
    clock = Clock()
    buckets = Buckets(2, 600.0, clock=clock)
    for number in range(2000):
        assert buckets.take(str(number)) == 0
    assert looks < 10 * 2000
    clock.now += 1000.0
    for number in range(2 * 2000):
        buckets.take(f"later {number}")
        buckets.give(f"later {number}")
    assert len(buckets._spent) <= 2 * 2000  # of 6000 that came
