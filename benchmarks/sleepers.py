"""Workers whose grading only sleeps, as a stand-in for work that is done on machines of their own.

What they show is whether the queue itself keeps up: claims, deliveries and verdicts go through the real engine and the
real Postgres, each worker reaches it over a network of its own, and grading takes hardly any processor time.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

from grader.jobs.cluster.engine import ClusterEngine
from grader.jobs.engine import EmbeddedEngine, GradingEngine
from grader.jobs.queue import Tracker
from grader.jobs.worker import Retries
from grader.judge.report import Report
from grader.store.engine import Database
from grader.store.records import Submission
from tests.jobs import networks
from tests.jobs.classroom import full_marks

SLEEP_SECONDS = 0.25


def sleeps(submission: Submission, tracker: Tracker) -> Report:
    """Grade as a worker on a machine of its own would, seen from here."""
    time.sleep(SLEEP_SECONDS)
    return full_marks(submission, tracker)


def work(url: str, folder: Path, slots: int, network: str, line: Connection) -> None:
    """Grade so up to a word on `line`, from within a network namespace if one is named."""
    if network:
        networks.enter(network)
    database = Database(url)
    kind: Callable[..., GradingEngine] = EmbeddedEngine if database.embedded else ClusterEngine
    engine = kind(database, sleeps, workers=folder / "workers", retries=Retries(quick_seconds=600.0))
    engine.run({"cpu": slots})
    line.send("ready")
    line.recv()
    engine.drain(10.0)
    database.close()


@contextmanager
def sleeping(url: str, folder: Path, slots: int, network: str = "") -> Iterator[None]:
    """Have one such worker work for the length of the block."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=work, args=(url, folder, slots, network, theirs))
    process.start()
    assert ours.recv() == "ready"
    yield
    ours.send("end")
    process.join()


@contextmanager
def all_sleeping(places: Sequence[tuple[str, str]], folder: Path) -> Iterator[None]:
    """Have a worker with one slot work at each place: an address of the database, and a network namespace."""
    with ExitStack() as stack:
        for number, (url, network) in enumerate(places):
            stack.enter_context(sleeping(url, folder / f"sleeper {len(places)} {number}", 1, network))
        yield
