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
from sqlalchemy import text

from grader.store.engine import Database
from grader.store.records import State
from tests.jobs import networks, postgres
from tests.jobs.classroom import gradings, hand_in, states, until
from tests.jobs.cluster_worker import END, GO, work_beyond
from tests.jobs.engines import Site, on_postgres
from tests.jobs.networks import Network
from tests.jobs.postgres import Server

PROMISED_SECONDS = 20.0


@dataclass(frozen=True)
class Beyond:
    network: Network
    process: multiprocessing.process.BaseProcess
    begun: Connection
    tell: Connection

    def await_grading(self) -> None:
        assert self.begun.poll(120)
        assert os.read(self.begun.fileno(), 1) == b".", "it ended"

    def connections(self, database: Database) -> int:
        query = text("SELECT count(*) FROM pg_stat_activity WHERE client_addr = CAST(:there AS inet)")
        with database.read() as session:
            return session.scalar(query, {"there": self.network.there}) or 0


@pytest.fixture
def network() -> Iterator[Network]:
    if reason := networks.missing():
        pytest.skip(reason)
    with networks.network() as network:
        yield network


@pytest.fixture
def server(network: Network) -> Iterator[Server]:
    with postgres.running(network.here) as server:
        yield server


@pytest.fixture
def shared(server: Server, tmp_path: Path) -> Iterator[Site]:
    with on_postgres(server.url, tmp_path) as site:
        yield site


@pytest.fixture
def beyond(network: Network, server: Server, shared: Site, tmp_path: Path) -> Iterator[Beyond]:
    context = multiprocessing.get_context("spawn")
    (heard, begun), (told, tell) = context.Pipe(duplex=False), context.Pipe(duplex=False)
    url = f"{server.url_at(network.here)}/{shared.database.engine.url.database}"
    process = context.Process(target=work_beyond, args=(network.name, url, tmp_path / "there", begun, told))
    process.start()
    begun.close()
    yield Beyond(network, process, heard, tell)
    process.kill()
    process.join()


def test_a_machine_that_is_cut_off_is_replaced_and_goes_on_when_the_network_is_back(
    shared: Site, beyond: Beyond
) -> None:
    """It holds a job, and its owner's turn; the server lets go of it, its late verdict is dropped, it goes on."""
    engine, database = shared.machine(), shared.database
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
