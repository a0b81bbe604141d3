"""Results are counted once each, as they come to be in the database."""

from __future__ import annotations

from collections import Counter

import pytest
from sqlalchemy import delete, update

from grader.jobs.overview import AGAIN_SECONDS, BUCKETS, Tally
from grader.judge.report import Report, Status
from grader.store import people, submissions
from grader.store.engine import Database
from grader.store.gradings import Grading, Versions, store
from grader.store.records import Reason, Role, Submission, SubmissionId, User
from grader.store.tables import GradingRow, SubmissionRow
from tests.service.conftest import Clock

VERSIONS = Versions(exercise="v1", grader="g1", torch="2")


@pytest.fixture
def ada(database: Database) -> User:
    with database.write() as session:
        return people.add(session, "Ada", Role.STUDENT, key="ada", password="hash", now=1.0)


def grade(
    database: Database, user: User, number: int, *, seconds: float = 1.0, status: Status = Status.GRADED, **more: object
) -> None:
    id = SubmissionId(f"s{number}")
    draft = Submission(
        id=id, user=user.id, exercise=f"exercise {number}", exercise_version="v1", seed=1, device="cpu",
        created=10.0, raw=b"x",
    )  # fmt: skip
    with database.write() as session:
        submissions.add(session, draft)
    result(database, number, seconds=seconds, status=status, **more)


def result(
    database: Database, number: int, *, seconds: float = 1.0, status: Status = Status.GRADED, **more: object
) -> None:
    incident = str(more.pop("incident", ""))
    report = Report(f"exercise {number}", status, 50.0, 1, "cpu", 0.1, incident=incident)
    grading = Grading(report=report, body=report.to_json(), versions=VERSIONS, created=10.0 + seconds, **more)
    with database.write() as session:
        store(session, SubmissionId(f"s{number}"), grading)


def renumber(database: Database, ids: dict[int, int]) -> None:
    with database.write() as session:
        session.execute(update(SubmissionRow).values(current_grading=None))
        for before, after in ids.items():
            session.execute(update(GradingRow).where(GradingRow.id == before).values(id=after))


def look(tally: Tally, database: Database) -> Counter[str]:
    with database.read() as session:
        tally.look(session)
    return tally.verdicts


def test_results_are_counted_by_what_came_of_them(database: Database, ada: User) -> None:
    """From the first look on, each once, those that a fault of ours has ended as broken."""
    grade(database, ada, 0)
    tally = Tally()
    before = dict(look(tally, database))
    grade(database, ada, 1)
    grade(database, ada, 2, status=Status.REJECTED)
    grade(database, ada, 3, incident="ab12", try_number=3)
    look(tally, database)

    assert before == {}
    assert look(tally, database) == {"graded": 1, "rejected": 1, "broken": 1}
    assert tally.repeated == 2


def test_waits_are_from_the_hand_in_to_the_first_verdict(database: Database, ada: User) -> None:
    """Each in its bucket; a later regrade is a result, and nobody has waited for it."""
    tally = Tally()
    look(tally, database)
    for number, seconds in enumerate((0.2, 0.25, 3.0, 99_999.0)):
        grade(database, ada, number, seconds=seconds)
    result(database, 0, seconds=7000.0, reason=Reason.REGRADE)
    verdicts = look(tally, database)
    counts = dict(zip((*BUCKETS, "beyond"), tally.waits, strict=True))

    assert verdicts == {"graded": 5}
    assert {end: count for end, count in counts.items() if count} == {0.25: 2, 5.0: 1, "beyond": 1}
    assert tally.waited == pytest.approx(0.2 + 0.25 + 3.0 + 99_999.0)


def test_a_result_that_becomes_visible_late_is_counted(database: Database, ada: User) -> None:
    """Its id is smaller than one that was counted; after a minute, nobody looks there any more."""
    clock = Clock()
    tally = Tally(clock)
    look(tally, database)
    grade(database, ada, 1)
    grade(database, ada, 2)
    renumber(database, {1: 1_000})
    look(tally, database)
    grade(database, ada, 3)
    renumber(database, {1_001: 500})
    late = dict(look(tally, database))
    clock.now += AGAIN_SECONDS
    look(tally, database)
    kept = len(tally._seen)

    assert late == {"graded": 3}
    assert (look(tally, database)["graded"], kept) == (3, 0)


def test_ids_that_are_given_again_are_counted_again(database: Database, ada: User) -> None:
    """SQLite gives the newest id once more when its row is deleted."""
    clock = Clock()
    tally = Tally(clock)
    look(tally, database)
    for number in (1, 2):
        grade(database, ada, number)
    look(tally, database)
    clock.now += AGAIN_SECONDS
    look(tally, database)
    with database.write() as session:
        session.execute(delete(GradingRow))
    look(tally, database)
    grade(database, ada, 3)

    assert look(tally, database) == {"graded": 3}
