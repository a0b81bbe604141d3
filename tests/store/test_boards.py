"""Best scores and leaderboards."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sqlalchemy import text

from grader.judge.report import Report, Status
from grader.store import standings
from grader.store.engine import Database
from grader.store.records import Role, User

Person = Callable[..., User]
Count = Callable[..., None]


@pytest.fixture
def count(graded: Callable[..., object]) -> Count:
    """Give a function that counts an attempt."""

    def attempt(user: User, score: float, now: float, *, exercise: str = "e", status: Status = Status.GRADED) -> None:
        report = Report(exercise=exercise, status=status, score=score, seed=1, device="cpu", seconds=0.1)
        graded(user, report, created=now)

    return attempt


def board(database: Database, exercise: str | None) -> list[tuple[int, str, float, int, float, int]]:
    """Return a board without the people's ids."""
    with database.read() as session:
        lines = standings.leaderboard(session, exercise)
    return [(line.rank, line.name, line.score, line.attempts, line.reached, line.solved) for line in lines]


def test_the_order_is_score_then_fewer_attempts_then_earlier(database: Database, person: Person, count: Count) -> None:
    """Each of the three decides only when those before it are equal; who is equal in all shares a rank."""
    ada, bob, cyd, dan, eve = (person(name) for name in ("Ada", "Bob", "Cyd", "Dan", "Eve"))
    count(ada, 90.0, 1.0)
    count(bob, 40.0, 1.0)
    count(bob, 100.0, 2.0)
    count(cyd, 100.0, 5.0)
    count(dan, 100.0, 4.0)
    count(eve, 100.0, 4.0)

    assert board(database, "e") == [
        (1, "Dan", 100.0, 1, 4.0, 1),
        (1, "Eve", 100.0, 1, 4.0, 1),
        (3, "Cyd", 100.0, 1, 5.0, 1),
        (4, "Bob", 100.0, 2, 2.0, 1),
        (5, "Ada", 90.0, 1, 1.0, 0),
    ]


def test_attempts_after_the_best_one_change_nothing(database: Database, person: Person, count: Count) -> None:
    """A best score stands, with the attempts up to it and the time of it."""
    ada = person("Ada")
    for now, score in enumerate((10.0, 80.0, 80.0, 20.0)):
        count(ada, score, float(now))

    assert board(database, "e") == [(1, "Ada", 80.0, 2, 1.0, 0)]


@pytest.mark.parametrize("status", [Status.REJECTED, Status.UNGRADABLE])
def test_what_could_not_be_graded_uses_up_no_attempt(
    database: Database, person: Person, count: Count, status: Status
) -> None:
    """A rejected or ungradable one puts nobody on the board and counts for nothing."""
    ada, bob = person("Ada"), person("Bob")
    count(ada, 0.0, 1.0, status=status)
    count(bob, 0.0, 1.0, status=status)
    count(bob, 100.0, 2.0)

    assert board(database, "e") == [(1, "Bob", 100.0, 1, 2.0, 1)]


def test_the_overall_board_sums_over_the_exercises(database: Database, person: Person, count: Count) -> None:
    """Scores and attempts are sums of the bests, `reached` is the last of them, `solved` counts full marks."""
    ada, bob = person("Ada"), person("Bob")
    count(ada, 100.0, 1.0, exercise="e")
    count(ada, 20.5, 2.0, exercise="f")
    count(ada, 50.25, 3.0, exercise="f")
    count(bob, 100.0, 9.0, exercise="e")
    count(bob, 100.0, 8.0, exercise="f")

    assert board(database, None) == [(1, "Bob", 200.0, 2, 9.0, 2), (2, "Ada", 150.25, 3, 3.0, 1)]
    with database.read() as session:
        assert standings.best(session, ada.id) == {"e": 100.0, "f": 50.25}


def test_instructors_are_on_no_board(database: Database, person: Person, count: Count) -> None:
    """Who tries out an exercise for the class does not compete with it."""
    count(person("Ida", Role.INSTRUCTOR), 100.0, 1.0)

    assert (board(database, "e"), board(database, None)) == ([], [])


def test_a_board_reads_no_submission(database: Database) -> None:
    """The cost of a board does not grow with what was handed in."""
    query = "SELECT * FROM bests JOIN users ON users.id = bests.user_id WHERE exercise = 'e' ORDER BY score DESC"
    with database.read() as session:
        plan = [row.detail for row in session.execute(text(f"EXPLAIN QUERY PLAN {query}"))]

    assert any("ix_bests_board" in step for step in plan), plan
