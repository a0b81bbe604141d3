"""Best scores, leaderboards, grades and common mistakes, and the caches that they are read from."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from sqlalchemy import text

from grader.judge.report import Diagnosis, Report, Status
from grader.store import gradings, people, standings
from grader.store.engine import Database
from grader.store.gradings import Grading, Versions
from grader.store.records import Reason, Role, SubmissionId, User
from grader.store.standings import CommonMistake, Grade
from grader.store.tables import INITIAL_CLASS

Graded = Callable[..., SubmissionId]
Cached = dict[str, list[tuple[object, ...]]]
NEWER = Versions(exercise="v2", grader="g2", torch="3")


def cached(database: Database) -> Cached:
    with database.read() as session:
        return {
            lines: sorted(tuple(row) for row in session.execute(text(f"SELECT {lines}")))
            for lines in ("* FROM bests", "* FROM totals", "* FROM mistakes", "id, nth FROM submissions")
        }


def rebuilt(database: Database) -> Cached:
    with database.write() as session:
        standings.rebuild(session)
    return cached(database)


def drawn(chance: random.Random, exercise: str) -> Report:
    names = chance.sample(["late", "scale", "mask"], chance.randint(0, 2))
    return Report(
        exercise=exercise,
        status=chance.choice([Status.GRADED, Status.GRADED, Status.GRADED, Status.TIMEOUT, Status.REJECTED]),
        score=chance.choice([0.0, 33.33, 66.67, 100.0]),
        seed=1,
        device="cpu",
        seconds=0.1,
        diagnosis=tuple(Diagnosis(name, f"Title of {name}", "message", certain=True) for name in names),
        incident=chance.choice(["", "", "", "ab12"]),
    )


def test_after_every_event_the_caches_say_what_a_rebuild_says(
    database: Database, person: Callable[..., User], graded: Graded
) -> None:
    """Of reports of every kind, faults of ours, and results that replace others."""
    chance, people = random.Random(3), [person(name) for name in ("Ada", "Bob")]
    stored: list[tuple[SubmissionId, str]] = []
    for moment in range(60):
        if stored and chance.random() < 0.3:
            id, exercise = chance.choice(stored)
            report = drawn(chance, exercise)
            grading = Grading(
                report=report, body=report.to_json(), versions=NEWER, created=100.0 + moment, reason=Reason.REGRADE
            )
            with database.write() as session:
                gradings.store(session, id, grading)
        else:
            report = drawn(chance, chance.choice(["softmax", "masking"]))
            stored.append((graded(chance.choice(people), report, created=float(moment)), report.exercise))
        found = cached(database)

        assert found == rebuilt(database)
    assert all(found.values())


def test_a_former_result_stays_beside_the_new_one(
    database: Database, person: Callable[..., User], graded: Graded
) -> None:
    """Only the current one counts, and both say with what they were graded."""
    ada, chance = person("Ada"), random.Random(1)
    old = drawn(chance, "softmax")
    id = graded(ada, old, created=1.0)
    new = Report("softmax", Status.GRADED, 12.5, 1, "cpu", 0.1)
    with database.write() as session:
        gradings.store(session, id, Grading.of(new, NEWER, 9.0))
    with database.read() as session:
        kept = session.execute(text("SELECT score, exercise_version, grader_version FROM gradings ORDER BY id")).all()
        versions = gradings.versions_of(session, id)

    assert kept == [(old.score, "v1", "g1"), (12.5, "v2", "g2")]
    assert versions == NEWER
    assert [line[2:] for line in cached(database)["* FROM bests"]] == [(12.5, 1, 1.0, 1)]


def test_the_earlier_hand_in_counts_whatever_the_queue_did(
    database: Database, person: Callable[..., User], graded: Graded
) -> None:
    """A best is dated by its hand-in; here its result came five seconds later."""
    graded(person("Ada"), Report("softmax", Status.GRADED, 100.0, 1, "cpu", 0.1), created=7.0)

    assert [line[4] for line in cached(database)["* FROM bests"]] == [7.0]


Person = Callable[..., User]
Count = Callable[..., None]


@pytest.fixture
def count(graded: Callable[..., object]) -> Count:
    def attempt(user: User, score: float, now: float, *, exercise: str = "e", status: Status = Status.GRADED) -> None:
        report = Report(exercise=exercise, status=status, score=score, seed=1, device="cpu", seconds=0.1)
        graded(user, report, created=now)

    return attempt


def board(database: Database, exercise: str | None) -> list[tuple[int, str, float, int, float, int]]:
    with database.read() as session:
        lines = standings.leaderboard(session, INITIAL_CLASS, exercise)
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


def seen(mistake: str, title: str = "Title") -> Diagnosis:
    return Diagnosis(mistake, title, "message", certain=True)


def report_with(score: float, *diagnosis: Diagnosis) -> Report:
    return Report("softmax", Status.GRADED, score, 1, "cpu", 0.1, diagnosis=diagnosis)


def test_everybody_is_listed_whether_they_have_begun_or_not(database: Database, person: Person, graded: Graded) -> None:
    """By name; with the best score, all attempts used, and the later of the last sign-in and the last submission."""
    zoe, ada, bob = person("Zoe"), person("ada"), person("Bob")
    person("Prof", Role.INSTRUCTOR)
    for created, score in ((9.0, 80.0), (10.0, 30.0)):
        graded(zoe, report_with(score), created=created)
    with database.write() as session:
        people.open_session(session, zoe.id, digest="z", now=5.0, expires=99.0)
        people.open_session(session, bob.id, digest="b", now=6.0, expires=99.0)
    with database.read() as session:
        listed = standings.students(session, INITIAL_CLASS)

    assert [(one.user, one.grades, one.active) for one in listed] == [
        (ada, {}, None),
        (bob, {}, 6.0),
        (zoe, {"softmax": Grade(80.0, 2)}, 10.0),
    ]


def test_mistakes_are_counted_per_student_and_attempt(database: Database, person: Person, graded: Graded) -> None:
    """Most students first; the last wording stands; named twice in a report_with is once; instructors are left out."""
    ada, bob, prof = person("Ada"), person("Bob"), person("Prof", Role.INSTRUCTOR)
    for user in (ada, ada, bob, prof):
        graded(user, report_with(0.0, seen("late"), seen("late", "New")), created=1.0)
    graded(ada, report_with(0.0, seen("scale")), created=2.0)
    with database.read() as session:
        common = standings.common_mistakes(session, INITIAL_CLASS)

    assert common == [
        CommonMistake("softmax", "late", "New", students=2, times=3),
        CommonMistake("softmax", "scale", "Title", students=1, times=1),
    ]
