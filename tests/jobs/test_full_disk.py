"""The disk of a Postgres is full: hand-ins are refused, and what was acknowledged is graded once when there is room."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from sqlalchemy import func, select

from grader.jobs.cluster.engine import ClusterEngine
from grader.jobs.retries import Retries
from grader.store.engine import Database, StoreUnavailable
from grader.store.records import State
from grader.store.tables import GradingRow
from tests.jobs.classroom import full_marks, hand_in, states, until
from tests.jobs.engines import new_database
from tests.jobs.postgres import Server
from tests.machine import Disk, small_disk

MOST = 5000  # hand-ins; some of the tables has no room after a few dozen


@pytest.fixture
def disk() -> Iterator[Disk]:
    """Give a small disk."""
    with small_disk() as disk:
        if disk is None:
            pytest.skip("this system grants no small disk to fill")
        yield disk


@pytest.fixture
def server(disk: Disk) -> Iterator[Server]:
    """Give a Postgres on it."""
    disk.folder.chmod(0o755)  # it is served by nobody
    server = Server(disk.folder)
    yield server
    server.stop()


@pytest.fixture
def database(server: Server) -> Iterator[Database]:
    """Give an up-to-date database on it, with the library's tables."""
    database = new_database(server.url)
    yield database
    database.close()


@pytest.fixture
def engine(database: Database, tmp_path: Path) -> Iterator[ClusterEngine]:
    """Give the engine of this machine."""
    retries = Retries((0.0, 0.0), quick_seconds=600.0)
    engine = ClusterEngine(database, full_marks, workers=tmp_path / "workers", retries=retries)
    yield engine
    engine.drain(5.0)


def test_a_full_disk_refuses_hand_ins_and_loses_none(
    disk: Disk, server: Server, database: Database, engine: ClusterEngine
) -> None:
    """Grading goes on as far as it can; whoever is refused is told so, and can hand in again."""
    engine.start({"cpu": 1})
    disk.fill()
    stored = handed_in(database, engine)
    assert len(stored) < MOST, "somebody is refused"
    disk.clear()
    server.revive()
    with suppress(StoreUnavailable):  # a connection that broke shows it at its first use
        states(database)
    stored.append(hand_in(database, engine, "once more").id)

    until(lambda: set(states(database).values()) == {State.DONE}, "all are graded")
    query = select(GradingRow.submission_id, func.count()).group_by(GradingRow.submission_id)
    with database.read() as session:
        assert {id: number for id, number in session.execute(query)} == dict.fromkeys(stored, 1)  # noqa: C416 - a row is no pair to mypy


def handed_in(database: Database, engine: ClusterEngine) -> list[str]:
    """Hand in until somebody is refused; return what was acknowledged."""
    stored: list[str] = []
    with suppress(StoreUnavailable):
        for number in range(MOST):
            stored.append(hand_in(database, engine, f"s{number}").id)
    return stored
