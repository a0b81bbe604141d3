"""Postgres goes away for a while, or a machine does: nothing is lost, and everything is graded once."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

import pytest

from grader.store.engine import StoreUnavailable
from grader.store.records import State
from tests.jobs.classroom import gradings, hand_in, states, until
from tests.jobs.cluster_worker import work
from tests.jobs.engines import Site
from tests.jobs.postgres import Server


@dataclass(frozen=True)
class OtherMachine:
    """A machine in a process of its own, which holds the job that it has begun until it is told to go on."""

    process: BaseProcess
    tell: Connection


def test_postgres_is_restarted_under_load(server: Server, shared: Site) -> None:
    """What is handed in meanwhile is refused or kept; grading goes on, and everything that was kept is graded once."""
    engine = shared.machine()
    engine.start({"cpu": 2})
    stored, refused = set(), 0
    for number in range(60):
        if number == 20:
            server.stop()
        if number == 40:
            server.start()
        try:
            stored.add(hand_in(shared.database, engine, f"s{number:02}").id)
        except StoreUnavailable:
            refused += 1

    until(lambda: set(states(shared.database).values()) == {State.DONE}, "all are graded")
    assert refused >= 20  # those of the outage, and perhaps the first ones that came after it
    assert gradings(shared.database) == dict.fromkeys(sorted(stored), 1)


@pytest.fixture
def other(shared: Site) -> Iterator[OtherMachine]:
    context = multiprocessing.get_context("spawn")
    (heard, begun), (proceed, tell) = context.Pipe(duplex=False), context.Pipe(duplex=False)
    url = shared.database.engine.url.render_as_string(hide_password=False)
    process = context.Process(target=work, args=(url, shared.folder / "there", begun, proceed))
    process.start()
    hand_in(shared.database, shared.machine(), "s1")
    assert heard.poll(60)
    assert os.read(heard.fileno(), 1) == b"."
    yield OtherMachine(process, tell)
    process.kill()
    process.join()


def test_a_machine_that_vanishes_is_replaced_and_changes_nothing_when_it_comes_back(
    shared: Site, other: OtherMachine
) -> None:
    """It is stopped, so it says nothing any more and keeps its job and its connections; later it goes on."""
    assert other.process.pid is not None
    os.kill(other.process.pid, signal.SIGSTOP)
    shared.machine().start({"cpu": 1})
    until(lambda: states(shared.database) == {"s1": State.DONE}, "it is graded here")

    os.kill(other.process.pid, signal.SIGCONT)
    other.tell.send_bytes(b"go on")
    other.process.join(60)
    assert other.process.exitcode == 0
    assert gradings(shared.database) == {"s1": 1}


def test_what_a_killed_worker_held_starts_elsewhere_within_five_seconds(shared: Site, other: OtherMachine) -> None:
    """Nobody of its machine is left to tell; its connections have ended with it."""
    shared.machine().start({"cpu": 1})
    other.process.kill()
    killed = time.monotonic()
    until(lambda: states(shared.database) == {"s1": State.DONE}, "it is graded here")

    assert time.monotonic() - killed < 5.0
