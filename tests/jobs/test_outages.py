"""Postgres goes away for a while, or a machine does: nothing is lost, and everything is graded once."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import func, select

from grader.jobs.cluster.engine import ClusterEngine
from grader.jobs.retries import Retries
from grader.store.engine import Database, StoreUnavailable
from grader.store.records import State
from grader.store.tables import GradingRow
from tests.jobs import postgres
from tests.jobs.classroom import full_marks, hand_in, states, until
from tests.jobs.cluster_worker import work
from tests.jobs.engines import new_database
from tests.jobs.postgres import Server


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """Give a Postgres that can be stopped and started."""
    with postgres.running() as server:
        yield server


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
    engine = ClusterEngine(database, full_marks, workers=tmp_path / "here" / "workers", retries=retries)
    yield engine
    engine.drain(5.0)


def gradings(database: Database) -> dict[str, int]:
    """Return how often each submission was graded."""
    query = select(GradingRow.submission_id, func.count()).group_by(GradingRow.submission_id)
    with database.read() as session:
        return {id: number for id, number in session.execute(query)}  # noqa: C416 - a row is no pair to mypy


def test_postgres_is_restarted_under_load(server: Server, database: Database, engine: ClusterEngine) -> None:
    """What is handed in meanwhile is refused or kept; grading goes on, and everything that was kept is graded once."""
    engine.start({"cpu": 2})
    stored, refused = set(), 0
    for number in range(60):
        if number == 20:
            server.stop()
        if number == 40:
            server.start()
        try:
            stored.add(hand_in(database, engine, f"s{number:02}").id)
        except StoreUnavailable:
            refused += 1

    until(lambda: set(states(database).values()) == {State.DONE}, "all are graded")
    assert refused >= 20  # those of the outage, and perhaps the first ones that came after it
    assert gradings(database) == dict.fromkeys(sorted(stored), 1)


def test_a_machine_that_vanishes_is_replaced_and_changes_nothing_when_it_comes_back(
    database: Database, engine: ClusterEngine, tmp_path: Path
) -> None:
    """It is stopped, so it says nothing any more and keeps its job and its connections; later it goes on."""
    context = multiprocessing.get_context("spawn")
    (heard, begun), (proceed, told) = context.Pipe(duplex=False), context.Pipe(duplex=False)
    url = database.engine.url.render_as_string(hide_password=False)
    other = context.Process(target=work, args=(url, tmp_path / "there", begun, proceed))
    other.start()
    hand_in(database, engine, "s1")
    assert heard.poll(60)
    assert os.read(heard.fileno(), 1) == b"."
    assert other.pid is not None
    os.kill(other.pid, signal.SIGSTOP)
    engine.start({"cpu": 1})
    until(lambda: states(database) == {"s1": State.DONE}, "it is graded here")

    os.kill(other.pid, signal.SIGCONT)
    told.send_bytes(b"go on")
    other.join(60)
    assert other.exitcode == 0
    assert gradings(database) == {"s1": 1}


def test_what_a_killed_worker_held_starts_elsewhere_within_five_seconds(
    database: Database, engine: ClusterEngine, tmp_path: Path
) -> None:
    """Nobody of its machine is left to tell; its connections have ended with it."""
    context = multiprocessing.get_context("spawn")
    (heard, begun), (proceed, _told) = context.Pipe(duplex=False), context.Pipe(duplex=False)
    url = database.engine.url.render_as_string(hide_password=False)
    other = context.Process(target=work, args=(url, tmp_path / "there", begun, proceed))
    other.start()
    hand_in(database, engine, "s1")
    assert heard.poll(60)
    engine.start({"cpu": 1})
    other.kill()
    killed = time.monotonic()
    until(lambda: states(database) == {"s1": State.DONE}, "it is graded here")

    assert time.monotonic() - killed < 5.0
