"""Bests, sums, counts of mistakes and of attempts are caches: they say what the gradings say, whatever happened."""

from __future__ import annotations

import random
from collections.abc import Callable

from sqlalchemy import text

from grader.judge.report import Diagnosis, Report, Status
from grader.store import gradings, standings
from grader.store.engine import Database
from grader.store.gradings import Grading, Versions
from grader.store.records import Reason, SubmissionId, User

Graded = Callable[..., SubmissionId]
Cached = dict[str, list[tuple[object, ...]]]
NEWER = Versions(exercise="v2", grader="g2", torch="3")


def cached(database: Database) -> Cached:
    """Return every line of every cache."""
    with database.read() as session:
        return {
            lines: sorted(tuple(row) for row in session.execute(text(f"SELECT {lines}")))
            for lines in ("* FROM bests", "* FROM totals", "* FROM mistakes", "id, nth FROM submissions")
        }


def rebuilt(database: Database) -> Cached:
    """Return the caches after they were made anew."""
    with database.write() as session:
        standings.rebuild(session)
    return cached(database)


def drawn(chance: random.Random, exercise: str) -> Report:
    """Return a report of any kind."""
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
