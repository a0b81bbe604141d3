"""Whatever is killed and whenever: nothing that was handed in is lost, and nothing is graded twice visibly."""

from __future__ import annotations

import multiprocessing
import os
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest
from sqlalchemy import text

from grader.jobs.engine import EmbeddedEngine
from grader.store.engine import Database
from grader.store.records import State
from tests.jobs.classroom import hand_in, states, until
from tests.jobs.worker import work


@dataclass(frozen=True)
class Worker:
    process: BaseProcess
    begun: Connection
    stop: Connection

    def wait_for(self, number: int) -> None:
        while number:
            assert self.begun.poll(30)
            number -= os.read(self.begun.fileno(), 1) == b"."

    def wait_until_ready(self) -> None:
        assert self.begun.poll(30)
        assert os.read(self.begun.fileno(), 1) == b"!"

    def kill(self) -> None:
        self.process.kill()
        self.process.join()

    def end(self) -> int:
        """Let it end in peace; return how many gradings had begun that nobody waited for."""
        self.stop.close()
        self.process.join()
        return len(os.read(self.begun.fileno(), 10_000))


@pytest.fixture(scope="module")
def processes() -> ForkServerContext:
    """Give a server that has the worker imported and forks a fresh process in a moment."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.jobs.worker"])
    return context


@pytest.fixture
def worker(tmp_path: Path, processes: ForkServerContext) -> Iterator[Callable[[], Worker]]:
    started: list[Worker] = []

    def start() -> Worker:
        (mine, begun), (stop, mine_too) = processes.Pipe(duplex=False), processes.Pipe(duplex=False)
        process = processes.Process(target=work, args=(tmp_path, begun, stop))
        process.start()
        begun.close()
        stop.close()
        started.append(Worker(process, mine, mine_too))
        return started[-1]

    yield start
    for one in started:
        one.kill()
        one.begun.close()
        one.stop.close()


def facts(database: Database) -> dict[str, object]:
    queries = {
        "unfinished": "SELECT count(*) FROM submissions WHERE state <> 'done'",
        "reports": "SELECT count(*) FROM gradings",
        "attempts": "SELECT sum(used) FROM bests",
        "intact": "PRAGMA integrity_check",
    }
    with database.read() as session:
        return {name: session.execute(text(query)).scalar() for name, query in queries.items()}


def test_kills_while_grading_lose_nothing_and_grade_once(
    database: Database, engine: Callable[..., EmbeddedEngine], worker: Callable[[], Worker]
) -> None:
    """A process killed four times in the middle of its work leaves a job for its successor, and no trace else."""
    chance = random.Random(7)
    for n in range(60):
        hand_in(database, engine(), f"s{n}")
    for _ in range(4):
        process = worker()
        process.wait_for(chance.randint(4, 10))
        time.sleep(chance.uniform(0.0, 0.03))  # so that the kills fall on every part of a job's way
        process.kill()
    last = worker()
    until(lambda: set(states(database).values()) == {State.DONE}, "all graded")
    last.end()

    assert facts(database) == {"unfinished": 0, "reports": 60, "attempts": 60, "intact": "ok"}
    with database.read() as session:
        assert session.execute(text("SELECT max(try_number) FROM gradings")).scalar_one() > 1


def test_a_living_process_takes_over_from_a_killed_one(
    database: Database, engine: Callable[..., EmbeddedEngine], worker: Callable[[], Worker]
) -> None:
    """Two processes share one file; when one dies, the other grades what it held, without a restart."""
    first, second = worker(), worker()
    first.wait_until_ready()
    second.wait_until_ready()
    for n in range(60):
        hand_in(database, engine(), f"s{n}")
    first.wait_for(1)
    first.kill()
    until(lambda: set(states(database).values()) == {State.DONE}, "all graded")

    assert facts(database) == {"unfinished": 0, "reports": 60, "attempts": 60, "intact": "ok"}


def test_two_living_processes_never_grade_the_same(
    database: Database, engine: Callable[..., EmbeddedEngine], worker: Callable[[], Worker]
) -> None:
    """While nobody dies, each job is taken exactly once, and a stop ends a process cleanly."""
    pair = worker(), worker()
    for one in pair:
        one.wait_until_ready()
    for n in range(40):
        hand_in(database, engine(), f"s{n}")
    until(lambda: set(states(database).values()) == {State.DONE}, "all graded")
    begun = [one.end() for one in pair]

    assert [one.process.exitcode for one in pair] == [0, 0]
    assert sum(begun) == 40
    with database.read() as session:
        assert session.execute(text("SELECT max(try_number) FROM gradings")).scalar_one() == 1
