"""A machine in a process of its own, which begins to grade and goes on once it is told to."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path

from grader.jobs.cluster.engine import ClusterEngine
from grader.jobs.queue import Tracker
from grader.jobs.worker import Retries
from grader.judge.report import Report
from grader.store import turns
from grader.store.engine import Database, StoreUnavailable
from grader.store.records import Submission
from tests.jobs import networks
from tests.jobs.classroom import full_marks

GO, END = "go", "end"


def work(url: str, folder: Path, begun: Connection, proceed: Connection) -> None:
    """Grade what is in a database; tell `begun` of each grading, and go on with it, and end, once `proceed` says so."""

    def grade(submission: Submission, tracker: Tracker) -> Report:
        os.write(begun.fileno(), b".")
        proceed.poll(None)
        return full_marks(submission, tracker)

    database = Database(url)
    retries = Retries((0.0, 0.0), quick_seconds=600.0)
    engine = ClusterEngine(database, grade, workers=folder / "workers", retries=retries)
    engine.start({"cpu": 1})
    proceed.poll(None)
    engine.drain(60.0)
    database.close()


def work_beyond(network: str, url: str, folder: Path, begun: Connection, told: Connection) -> None:
    """Grade from within a network namespace; what is begun waits for `GO`, and `END` ends the process.

    A grading holds what everybody needs who stores a verdict on it, so that its network is cut at the worst moment.
    """
    networks.enter(network)
    going = threading.Event()
    database = Database(url)

    def grade(submission: Submission, tracker: Tracker) -> Report:
        with suppress(StoreUnavailable), database.write() as session:
            turns.of_owner(session, submission.id)
            os.write(begun.fileno(), b".")
            going.wait()
        return full_marks(submission, tracker)

    retries = Retries((0.0, 0.0), quick_seconds=600.0)
    engine = ClusterEngine(database, grade, workers=folder / "workers", retries=retries)
    engine.start({"cpu": 1})
    for word in iter(told.recv, END):
        assert word == GO
        going.set()
    engine.drain(60.0)
    database.close()
