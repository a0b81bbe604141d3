"""The network of a machine is cut while it grades, without a word to anybody, and is there again later."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from grader.jobs.cluster import library
from grader.jobs.cluster.engine import ClusterEngine
from grader.jobs.retries import Retries
from grader.store import migrate
from grader.store.engine import Database
from grader.store.records import State
from tests.jobs import network, postgres
from tests.jobs.classroom import full_marks, hand_in, states, until
from tests.jobs.cluster_worker import work
from tests.jobs.network import Machine
from tests.jobs.test_outages import gradings

PROMISED_SECONDS = 20.0


@pytest.fixture
def far() -> Iterator[tuple[Database, Machine]]:
    """Give a database, and a machine that reaches it over a network of its own."""
    if reason := network.hindrance():
        pytest.skip(reason)
    with (
        network.machines(1) as (address, (machine,)),
        postgres.running(address) as server,
        closing(Database(postgres.make_database(server.url, "class"))) as database,
    ):
        migrate.upgrade(database)
        with database.engine.begin() as connection:
            library.install(connection)
        yield database, machine


def test_a_machine_that_is_cut_off_is_replaced_and_grades_again_once_it_is_back(
    far: tuple[Database, Machine], tmp_path: Path
) -> None:
    """What it held is graded here in time; its own late result changes nothing, and the next job is welcome there."""
    database, machine = far
    context = multiprocessing.get_context("spawn")
    pipes = [context.Pipe(duplex=False) for _ in range(3)]
    (heard, begun), (proceed, told), (end, ends) = pipes
    url = database.engine.url.render_as_string(hide_password=False)
    more = {"end": end, "namespace": machine.namespace}
    other = context.Process(target=work, args=(url, tmp_path / "there", begun, proceed), kwargs=more)
    other.start()
    hand_in(database, ClusterEngine(database, full_marks, workers=tmp_path / "none"), "s1")
    assert heard.poll(60)
    assert os.read(heard.fileno(), 1) == b"."
    here = ClusterEngine(
        database, full_marks, workers=tmp_path / "here", retries=Retries((0.0, 0.0), quick_seconds=600.0)
    )
    here.start({"cpu": 1})
    machine.cut()
    cut = time.monotonic()
    until(lambda: states(database) == {"s1": State.DONE}, "it is graded here")
    took = time.monotonic() - cut
    here.drain(5.0)
    told.send_bytes(b"go on")  # it has a result now, and nobody to give it to
    machine.join()
    hand_in(database, here, "s2")
    until(lambda: states(database)["s2"] is State.DONE, "the machine that is back grades the next one")
    ends.send_bytes(b"end")
    other.join(90)

    assert took < PROMISED_SECONDS
    assert other.exitcode == 0
    assert gradings(database) == {"s1": 1, "s2": 1}
