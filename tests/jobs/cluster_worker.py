"""A machine in a process of its own, which begins to grade and goes on once it is told to."""

from __future__ import annotations

import os
from multiprocessing.connection import Connection
from pathlib import Path

from grader.jobs.cluster.engine import ClusterEngine
from grader.jobs.queue import Tracker
from grader.jobs.retries import Retries
from grader.judge.report import Report
from grader.store.engine import Database
from grader.store.records import Submission
from tests.jobs import network
from tests.jobs.classroom import full_marks


def work(
    url: str,
    folder: Path,
    begun: Connection,
    proceed: Connection,
    *,
    end: Connection | None = None,
    namespace: Path | None = None,
) -> None:
    """Grade what is in a database; tell `begun` of each grading, and go on with it once `proceed` says so.

    It ends once `end` says so, or `proceed` without one. With `namespace` it has the network of that name.
    """
    if namespace is not None:
        network.enter(namespace)

    def grade(submission: Submission, tracker: Tracker) -> Report:
        os.write(begun.fileno(), b".")
        proceed.poll(None)
        return full_marks(submission, tracker)

    database = Database(url)
    retries = Retries((0.0, 0.0), quick_seconds=600.0)
    engine = ClusterEngine(database, grade, workers=folder / "workers", retries=retries)
    engine.start({"cpu": 1})
    (end or proceed).poll(None)
    engine.drain(60.0)
    database.close()
