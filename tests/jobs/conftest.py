"""A database and engines that are stopped when a test ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grader.jobs.engine import EmbeddedEngine
from grader.jobs.queue import Grade
from grader.jobs.worker import Retries
from grader.store.engine import Database
from tests.jobs import postgres
from tests.jobs.classroom import full_marks, open_database
from tests.jobs.engines import Site, on_postgres, on_sqlite


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = open_database(tmp_path)
    yield database
    database.close()


@pytest.fixture
def quick_seconds() -> float:
    """Give what a first try has before others go first: enough for a test on a busy machine."""
    return 60.0


@pytest.fixture
def engine(database: Database, tmp_path: Path, quick_seconds: float) -> Iterator[Callable[..., EmbeddedEngine]]:
    made: list[EmbeddedEngine] = []

    def make(grade: Grade = full_marks, pauses: tuple[float, ...] = (0.0, 0.0), tries: int = 9) -> EmbeddedEngine:
        retries = Retries(pauses, tries, quick_seconds=quick_seconds)
        made.append(EmbeddedEngine(database, grade, workers=tmp_path / "workers", retries=retries))
        return made[-1]

    yield make
    for one in made:
        one.drain(5.0)


@pytest.fixture(scope="module")
def server() -> Iterator[postgres.Server]:
    with postgres.running() as server:
        yield server


@pytest.fixture
def shared(server: postgres.Server, tmp_path: Path) -> Iterator[Site]:
    with on_postgres(server.url, tmp_path) as site:
        yield site


@pytest.fixture(params=["sqlite", "postgres"])
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Site]:
    if request.param == "postgres":
        yield request.getfixturevalue("shared")
        return
    with on_sqlite(tmp_path) as site:
        yield site
