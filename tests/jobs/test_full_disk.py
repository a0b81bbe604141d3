"""The disk of a Postgres is full: hand-ins are refused, and what was acknowledged is graded once when there is room."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from grader.store.engine import StoreUnavailable
from grader.store.records import State
from tests.jobs.classroom import gradings, hand_in, states, until
from tests.jobs.engines import on_postgres
from tests.jobs.postgres import Server
from tests.machine import Disk, small_disk

MOST = 5000  # hand-ins; some of the tables has no room after a few dozen


@pytest.fixture
def disk() -> Iterator[Disk]:
    with small_disk() as disk:
        if disk is None:
            pytest.skip("this system grants no small disk to fill")
        yield disk


@pytest.fixture
def server(disk: Disk) -> Iterator[Server]:
    disk.folder.chmod(0o755)  # it is served by nobody
    server = Server(disk.folder)
    yield server
    server.stop()


def test_a_full_disk_refuses_hand_ins_and_loses_none(disk: Disk, server: Server, tmp_path: Path) -> None:
    """Grading goes on as far as it can; whoever is refused is told so, and can hand in again."""
    with on_postgres(server.url, tmp_path) as site:
        engine, database = site.machine(), site.database
        engine.start({"cpu": 1})
        disk.fill()
        stored: list[str] = []
        with suppress(StoreUnavailable):
            for number in range(MOST):
                stored.append(hand_in(database, engine, f"s{number}").id)
        assert len(stored) < MOST, "somebody is refused"
        disk.clear()
        server.revive()
        with suppress(StoreUnavailable):  # a connection that broke shows it at its first use
            states(database)
        stored.append(hand_in(database, engine, "once more").id)

        until(lambda: set(states(database).values()) == {State.DONE}, "all are graded")
        assert gradings(database) == dict.fromkeys(stored, 1)
