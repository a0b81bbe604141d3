"""A grading process in which some submissions kill the process that grades them, as a kernel without memory would."""

from __future__ import annotations

import os
import signal
import time
from multiprocessing.connection import Connection
from pathlib import Path

from grader.jobs.engine import EmbeddedEngine
from grader.jobs.queue import Tracker
from grader.judge.report import Report
from grader.store.records import Submission
from tests.jobs.classroom import full_marks, open_database

GRADING_SECONDS = 0.05
NOTES = "notes"


def work(folder: Path, stop: Connection) -> None:
    """Grade what is in the folder's database, and note down what is begun and ended; end when `stop` is closed."""
    notes = os.open(folder / NOTES, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def note(what: str, submission: Submission) -> None:
        os.write(notes, f"{os.getpid()} {what} {submission.id}\n".encode())

    def grade(submission: Submission, tracker: Tracker) -> Report:
        note("alone" if tracker.alone else "together", submission)
        time.sleep(GRADING_SECONDS)
        if submission.id.startswith("killer"):
            note("killed", submission)
            os.kill(os.getpid(), signal.SIGKILL)
        note("ended", submission)
        return full_marks(submission, tracker)

    engine = EmbeddedEngine(open_database(folder), grade, workers=folder / "workers")
    engine.run({"cpu": 2})
    stop.poll(None)
    engine.drain(10.0)
