"""A grading process that hangs at its first job, and gives full marks from the second try on."""

from __future__ import annotations

import os
import socket
import sys
import time
from functools import partial
from pathlib import Path

from grader.box.observations import CallSeen
from grader.errors import Rejected
from grader.grading_process import RemoteProgress, serve_commands
from grader.jobs.engine import EmbeddedEngine
from grader.jobs.messages import Ready, send
from grader.jobs.queue import Tracker
from grader.jobs.tryouts import TryoutRequest, TryoutThread
from grader.judge.report import Report
from grader.store.records import Submission
from tests.jobs.classroom import full_marks, open_database

HANGS_SECONDS = 15.0


def work(folder: Path, connection: socket.socket) -> None:
    """Serve until the connection ends; the file `hanging` says in which process a first job hangs."""

    def grade(submission: Submission, tracker: Tracker) -> Report:
        if not (folder / "hanging").exists():
            tracker(CallSeen("a step"))
            progress.tell()
            (folder / "hanging").write_text(str(os.getpid()))
            end = time.monotonic() + HANGS_SECONDS
            while time.monotonic() < end and not tracker.cancel.cancelled:
                time.sleep(0.01)
            tracker.cancel.check()
        return full_marks(submission, tracker)

    def run(request: TryoutRequest) -> str:
        if request.source == "die":
            os._exit(1)
        if request.source == "refuse":
            raise Rejected("no such example")
        return f"{request.exercise} {request.seed} {request.typed}"

    progress = RemoteProgress(partial(send, connection))
    engine = EmbeddedEngine(open_database(folder), grade, workers=folder / "workers", live=progress)
    send(connection, Ready("a box"))
    serve_commands(connection, engine, TryoutThread(run))


if __name__ == "__main__":
    work(Path(sys.argv[1]), socket.socket(fileno=int(sys.argv[2])))
