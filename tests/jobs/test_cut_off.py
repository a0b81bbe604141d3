"""A machine whose network is cut is replaced within 20 s; it goes on when the network is back, and changes nothing."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from sqlalchemy import func, select, text

from grader.jobs.cluster import library
from grader.jobs.cluster.engine import ClusterEngine
from grader.jobs.retries import Retries
from grader.store import migrate
from grader.store.engine import Database
from grader.store.records import State
from grader.store.tables import GradingRow
from tests.jobs import networks, postgres
from tests.jobs.classroom import full_marks, hand_in, states, until
from tests.jobs.cluster_worker import END, GO, work_beyond
from tests.jobs.networks import Network
from tests.jobs.postgres import Server

PROMISED_SECONDS = 20.0


@dataclass(frozen=True)
class Beyond:
    """A machine at the other end of a network."""

    network: Network
    process: multiprocessing.process.BaseProcess
    begun: Connection
    tell: Connection

    def await_grading(self) -> None:
        """Wait until it has begun to grade something."""
        assert self.begun.poll(120)
        assert os.read(self.begun.fileno(), 1) == b".", "it ended"

    def connections(self, database: Database) -> int:
        """Return how many connections of it the server still has."""
        query = text("SELECT count(*) FROM pg_stat_activity WHERE client_addr = CAST(:there AS inet)")
        with database.read() as session:
            return session.scalar(query, {"there": self.network.there}) or 0


@pytest.fixture
def network() -> Iterator[Network]:
    """Give a network that can be cut."""
    if reason := networks.missing():
        pytest.skip(reason)
    with networks.network() as network:
        yield network


@pytest.fixture
def server(network: Network) -> Iterator[Server]:
    """Give a Postgres that is reached over this network, too."""
    with postgres.running(network.here) as server:
        yield server


@pytest.fixture
def database(server: Server) -> Iterator[Database]:
    """Give an up-to-date database on it, with the library's tables."""
    database = Database(postgres.make_database(server.url, "gym"))
    migrate.upgrade(database)
    with database.engine.begin() as connection:
        library.install(connection)
    yield database
    database.close()


@pytest.fixture
def beyond(network: Network, server: Server, database: Database, tmp_path: Path) -> Iterator[Beyond]:
    """Give a machine at the other end, which grades."""
    context = multiprocessing.get_context("spawn")
    (heard, begun), (told, tell) = context.Pipe(duplex=False), context.Pipe(duplex=False)
    url = f"{server.url_at(network.here)}/gym"
    process = context.Process(target=work_beyond, args=(network.name, url, tmp_path / "there", begun, told))
    process.start()
    begun.close()
    yield Beyond(network, process, heard, tell)
    process.kill()
    process.join()


@pytest.fixture
def engine(database: Database, tmp_path: Path) -> Iterator[ClusterEngine]:
    """Give the engine of this machine."""
    retries = Retries((0.0, 0.0), quick_seconds=600.0)
    engine = ClusterEngine(database, full_marks, workers=tmp_path / "here" / "workers", retries=retries)
    yield engine
    engine.drain(5.0)


def test_a_machine_that_is_cut_off_is_replaced_and_goes_on_when_the_network_is_back(
    database: Database, engine: ClusterEngine, beyond: Beyond
) -> None:
    """It holds a job, and what recovery needs; the server lets go of it, its late verdict is dropped, it goes on."""
    hand_in(database, engine, "s1")
    beyond.await_grading()
    engine.start({"cpu": 1})
    beyond.network.cut()
    cut = time.monotonic()
    until(lambda: states(database) == {"s1": State.DONE}, "it is graded here")
    took = time.monotonic() - cut
    until(lambda: beyond.connections(database) == 0, "the server has noticed that nobody is there")
    engine.drain(5.0)
    beyond.network.mend()
    beyond.tell.send(GO)
    hand_in(database, engine, "s2")
    until(lambda: states(database)["s2"] is State.DONE, "the other machine grades what comes next")

    assert took < PROMISED_SECONDS
    beyond.tell.send(END)
    beyond.process.join(120)
    assert beyond.process.exitcode == 0
    assert gradings(database) == {"s1": 1, "s2": 1}


def gradings(database: Database) -> dict[str, int]:
    """Return how often each submission was graded."""
    query = select(GradingRow.submission_id, func.count()).group_by(GradingRow.submission_id)
    with database.read() as session:
        return {id: number for id, number in session.execute(query)}  # noqa: C416 - a row is no pair to mypy
