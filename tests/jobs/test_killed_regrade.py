"""A regrade that is killed at any statement leaves the former result; nobody sees one without its sums."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest
from sqlalchemy import event

from grader.jobs import regrade
from grader.jobs.regrade import Regraded
from grader.judge.report import Diagnosis, Report, Status
from grader.store import gradings, migrate, people, submissions
from grader.store.engine import Database
from grader.store.gradings import Grading, Versions
from grader.store.records import Role, Submission, SubmissionId
from tests.jobs import postgres
from tests.store.test_standings import cached, rebuilt

ID, VERSIONS = SubmissionId("s1"), Versions(exercise="v1", grader="g1", torch="2")
BEFORE = Report(exercise="softmax", status=Status.GRADED, score=40.0, seed=1, device="cpu", seconds=0.0)
AFTER = replace(BEFORE, score=70.0, diagnosis=(Diagnosis("late", "Late", "One position too late.", certain=True),))


@pytest.fixture(params=["SQLite", "Postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    with ExitStack() as stack:
        if request.param == "Postgres":
            url = postgres.make_database(stack.enter_context(postgres.served()), "regraded")
        else:
            url = f"sqlite:///{tmp_path / 'class.sqlite3'}"
        with closing(Database(url)) as database:
            migrate.upgrade(database)
            with database.write() as session:
                ada = people.add(session, "Ada", Role.STUDENT, key="ada", password="hash", now=1.0)
                draft = Submission(
                    id=ID, user=ada.id, exercise="softmax", exercise_version="v1", raw=b"x = 1", seed=1, device="cpu",
                    created=2.0,
                )  # fmt: skip
                submissions.add(session, draft)
                gradings.store(session, ID, Grading.of(BEFORE, VERSIONS, 3.0))
        yield url


def _keep(url: str, moment: int) -> None:
    """Store the new result; this process kills itself at a statement, or where it commits."""
    database, moments = Database(url), count(1)

    def look(*_: object) -> None:
        if next(moments) == moment:
            os.kill(os.getpid(), signal.SIGKILL)

    event.listen(database.engine, "before_cursor_execute", look)
    event.listen(database.engine, "commit", look)
    regrade.keep(database, Regraded(ID, BEFORE, AFTER, VERSIONS, replace(VERSIONS, exercise="v2"), b"files"), None)
    os._exit(0)  # as little of the tests as possible ends twice


def _score(database: Database) -> float:
    with database.read() as session:
        found = submissions.get(session, ID)
    assert found is not None
    assert found.report is not None
    return found.report.score


def test_a_regrade_killed_at_any_statement_leaves_the_former_result(url: str) -> None:
    """Sums and counts of mistakes stay with it, too, and the next regrade is stored as if there had been none."""
    fork = multiprocessing.get_context("fork")
    with closing(Database(url)) as database:
        before = cached(database)
        database.close()  # a fork must not use a connection of ours
        for moment in count(1):
            process = fork.Process(target=_keep, args=(url, moment))
            process.start()
            process.join()
            if process.exitcode == 0:
                break
            assert process.exitcode == -signal.SIGKILL
            assert (_score(database), cached(database)) == (40.0, before), moment
            database.close()

        assert moment > 8  # statements, and the commit
        assert _score(database) == 70.0
        assert cached(database) != before
        assert cached(database) == rebuilt(database)
