"""A process that grades slowly until it is told to stop or killed."""

from __future__ import annotations

import os
import time
from multiprocessing.connection import Connection
from pathlib import Path

from grader.jobs.engine import EmbeddedEngine
from grader.jobs.queue import Tracker
from grader.jobs.worker import Retries
from grader.judge.report import Report
from grader.store.records import Submission
from tests.jobs.classroom import full_marks, open_database

GRADING_SECONDS = 0.03


def work(folder: Path, begun: Connection, stop: Connection) -> None:
    """Grade what is in the folder's database; tell `begun` of each grading; end when `stop` is closed."""

    def grade(submission: Submission, tracker: Tracker) -> Report:
        os.write(begun.fileno(), b".")
        time.sleep(GRADING_SECONDS)
        return full_marks(submission, tracker)

    patient = Retries(quick_seconds=60.0)  # no try gives way to others, however busy the machine is
    engine = EmbeddedEngine(open_database(folder), grade, workers=folder / "workers", retries=patient)
    engine.run({"cpu": 3})
    os.write(begun.fileno(), b"!")
    stop.poll(None)
    engine.drain(10.0)
