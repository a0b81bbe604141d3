"""A migrated database on a file, with people in it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grader.judge.report import Report
from grader.store import gradings, migrate, people, submissions
from grader.store.engine import Database
from grader.store.gradings import Grading, Versions
from grader.store.records import Role, Submission, SubmissionId, User


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = Database(f"sqlite:///{tmp_path / 'class.sqlite3'}")
    migrate.upgrade(database)
    yield database
    database.close()


@pytest.fixture
def person(database: Database) -> Callable[..., User]:
    def add(name: str, role: Role = Role.STUDENT) -> User:
        with database.write() as session:
            return people.add(session, name, role, key=name.lower(), password="hash", now=1.0)

    return add


@pytest.fixture
def graded(database: Database, draft: Callable[..., Submission]) -> Callable[..., SubmissionId]:
    """Give a function that stores a submission of a person with its report, handed in at `created`."""
    ids = itertools.count(1)

    def store(user: User, report: Report, *, created: float) -> SubmissionId:
        versions = Versions(exercise="v1", grader="g1", torch="2")
        made = draft(user, f"graded {next(ids)}", exercise=report.exercise, created=created)
        with database.write() as session:
            submissions.add(session, made)
            gradings.store(session, made.id, Grading.of(report, versions, created + 5.0))
        return made.id

    return store


@pytest.fixture
def draft() -> Callable[..., Submission]:
    def make(
        user: User, id: str, *, exercise: str = "softmax", created: float = 10.0, raw: bytes = b"x = 1"
    ) -> Submission:
        return Submission(
            id=SubmissionId(id),
            user=user.id,
            exercise=exercise,
            exercise_version="v1",
            seed=2**47 + 1,
            device="cpu",
            created=created,
            raw=raw,
        )

    return make
