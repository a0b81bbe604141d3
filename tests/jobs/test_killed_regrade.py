"""A regrade that is killed in the middle leaves the old result showing, and everything that follows from it."""

from __future__ import annotations

import itertools
import multiprocessing
import os
from collections.abc import Callable, Iterator
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select

from grader.exercise.catalog import ROOT, Catalog, read_exercise
from grader.jobs import archive, regrade
from grader.judge.report import Diagnosis, Report, Status
from grader.store import accounts, gradings, migrate, standings, submissions
from grader.store.engine import Database
from grader.store.gradings import Grading, Versions
from grader.store.records import Role, Submission, SubmissionId
from grader.store.tables import BestRow, GradingRow, MistakeRow, TotalRow
from tests.jobs import postgres
from tests.jobs.regrader import with_full_marks, work

NUMBERS = itertools.count()
ID = SubmissionId("s1")
OLD = Report(
    exercise="softmax", status=Status.GRADED, score=62.5, seed=77, device="cpu", seconds=0.0,
    diagnosis=(Diagnosis(mistake="late", title="Late", message="m", certain=True),),
)  # fmt: skip


@pytest.fixture(scope="module")
def processes() -> ForkServerContext:
    """Give a server that has the regrading imported and forks a fresh process in a moment."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.jobs.regrader"])
    return context


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """Give the URL of a Postgres."""
    with postgres.served() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """Give a database with a submission that has a result."""
    if request.param == "sqlite":
        yield from _graded(f"sqlite:///{tmp_path / 'class.sqlite3'}")
    else:
        yield from _graded(postgres.make_database(request.getfixturevalue("server"), f"class{next(NUMBERS)}"))


@pytest.fixture
def killed(database: Database, processes: ForkServerContext) -> Callable[[str], None]:
    """Give a function that has a process grade once more, up to a stage, and kills it there."""

    def kill(stage: str) -> None:
        heard, told = processes.Pipe(duplex=False)
        process = processes.Process(
            target=work, args=(database.engine.url.render_as_string(hide_password=False), ID, stage, told)
        )
        process.start()
        told.close()
        assert heard.poll(120)
        assert os.read(heard.fileno(), 1) == b".", "it ended before it was killed"
        process.kill()
        process.join()
        heard.close()

    return kill


@pytest.mark.parametrize("stage", ["run", "store"])
def test_a_killed_regrade_leaves_the_old_result(database: Database, killed: Callable[[str], None], stage: str) -> None:
    """It is the only one, the caches follow from it, and the next regrade is stored as if nothing had been."""
    killed(stage)

    assert shown(database) == (62.5, [62.5])
    assert caches(database) == rebuilt(database)
    regrade.keep(database, with_full_marks(database, ID))
    assert shown(database) == (100.0, [62.5, 100.0])
    assert caches(database) == rebuilt(database)


def shown(database: Database) -> tuple[float, list[float]]:
    """Return the score that a student sees, and those of all results in their order."""
    with database.read() as session:
        found = submissions.get(session, ID)
        scores = session.scalars(select(GradingRow.score).order_by(GradingRow.id)).all()
    assert found is not None
    assert found.report is not None
    return found.report.score, list(scores)


def caches(database: Database) -> list[tuple[Any, ...]]:
    """Return everything that is cached of the results; never nothing."""
    with database.read() as session:
        found = [tuple(row) for kind in (BestRow, TotalRow, MistakeRow) for row in session.execute(_columns(kind))]
        assert session.scalar(select(func.count()).select_from(BestRow)) == 1
    return found


def rebuilt(database: Database) -> list[tuple[Any, ...]]:
    """Return the same after it was made anew from the results."""
    with database.write() as session:
        standings.rebuild(session)
    return caches(database)


def _columns(kind: type[Any]) -> Any:
    return select(*kind.__table__.columns)


def _graded(url: str) -> Iterator[Database]:
    database = Database(url)
    migrate.upgrade(database)
    catalog = Catalog([read_exercise(ROOT / "exercises" / "softmax")])
    archive.keep(database, catalog)
    version = catalog["softmax"].version
    with database.write() as session:
        ada = accounts.add(session, "Ada", Role.STUDENT, key="ada", password="hash", now=1.0)
        draft = Submission(
            id=ID, user=ada.id, exercise="softmax", exercise_version=version, raw=b"x = 1", seed=77, device="cpu",
            created=2.0,
        )  # fmt: skip
        submissions.add(session, draft)
        made_with = Versions(exercise=version, grader="g1", torch="2")
        gradings.store(session, ID, Grading.of(OLD, made_with, 3.0))
    yield database
    database.close()
