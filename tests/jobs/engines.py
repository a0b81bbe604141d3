"""A database of each kind, and the engines of the machines that share it, for tests of what both kinds promise."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grader.jobs.cluster import library
from grader.jobs.cluster.engine import ClusterEngine
from grader.jobs.engine import EmbeddedEngine, GradingEngine
from grader.jobs.queue import Grade
from grader.jobs.worker import Retries
from grader.store import migrate
from grader.store.engine import Database
from tests.jobs import postgres
from tests.jobs.classroom import full_marks, open_database

NUMBERS = itertools.count()


@dataclass
class Site:
    database: Database
    folder: Path
    made: list[GradingEngine] = field(default_factory=list)

    def machine(
        self, grade: Grade = full_marks, *, folder: str = "", pause: float = 0.0, **options: Any
    ) -> GradingEngine:
        kind: Callable[..., GradingEngine] = EmbeddedEngine if self.database.embedded else ClusterEngine
        folder = "here" if self.database.embedded else folder or f"machine {len(self.made)}"
        retries = Retries((pause, pause), quick_seconds=600.0)
        self.made.append(
            kind(self.database, grade, workers=self.folder / folder / "workers", retries=retries, **options)
        )
        return self.made[-1]


@contextmanager
def on_sqlite(folder: Path) -> Iterator[Site]:
    with _closed(Site(open_database(folder), folder)) as site:
        yield site


@contextmanager
def on_postgres(server: str, folder: Path) -> Iterator[Site]:
    with _closed(Site(new_database(server), folder)) as site:
        yield site


def new_database(server: str) -> Database:
    """Return a new database of a server, up to date and with the library's tables; the caller closes it."""
    database = Database(postgres.make_database(server, f"site{next(NUMBERS)}"))
    migrate.upgrade(database)
    with database.engine.begin() as connection:
        library.install(connection)
    return database


@contextmanager
def _closed(site: Site) -> Iterator[Site]:
    try:
        yield site
    finally:
        for one in site.made:
            one.drain(5.0)
        site.database.close()
