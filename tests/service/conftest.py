"""A service on a database file, with a clock that the tests turn and a grading that looks at nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from argon2 import PasswordHasher

from grader.exercise.catalog import Catalog
from grader.jobs.engine import EmbeddedEngine
from grader.jobs.tryouts import TryoutThread
from grader.service import Service
from grader.service.service import Rules
from grader.store.engine import Database
from grader.store.records import Role, User
from tests.jobs.classroom import full_marks, open_database


@dataclass
class Clock:
    now: float = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def hasher() -> PasswordHasher:
    return PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


@pytest.fixture
def service(tmp_path: Path, clock: Clock, hasher: PasswordHasher) -> Iterator[Service]:
    database = open_database(tmp_path)
    engine = EmbeddedEngine(database, full_marks, workers=tmp_path / "workers", clock=clock)
    service = Service(
        database,
        Catalog.load(),
        engine,
        rules=Rules(class_code="green-tree", secret=b"secret", slots={"cpu": 1}),
        tryouts=TryoutThread(lambda request: request.example),
        box_name="nothing at all",
        hasher=hasher,
        clock=clock,
    )
    yield service
    service.stop()


@pytest.fixture
def person(service: Service) -> Callable[..., User]:
    """Give a function that makes an account with the password `correct horse`."""

    def add(name: str, role: Role = Role.STUDENT) -> User:
        return service.add_user(name, "correct horse", role)

    return add


@pytest.fixture
def database(service: Service, tmp_path: Path) -> Iterator[Database]:
    database = open_database(tmp_path)
    yield database
    database.close()


@pytest.fixture
def database_text(database: Database) -> Callable[[], str]:
    def dump() -> str:
        with database.engine.connect() as connection:
            return "\n".join(connection.connection.dbapi_connection.iterdump())  # type: ignore[union-attr]

    return dump
