"""A grading process that hangs at its first job, and gives full marks from the second try on."""

from __future__ import annotations

import os
import socket
import sys
import time
from pathlib import Path

from grader.box.observations import CallSeen
from grader.jobs.embedded import EmbeddedEngine
from grader.jobs.engine import Tracker
from grader.jobs.relay import Relay, obey, send
from grader.judge.report import Report
from grader.store.records import Submission
from tests.jobs.classroom import full_marks, open_database

HANGS_SECONDS = 15.0


def work(folder: Path, connection: socket.socket) -> None:
    """Obey, up to the end of the conversation; the file `hanging` says in which process a first job hangs."""

    def grade(submission: Submission, tracker: Tracker) -> Report:
        if not (folder / "hanging").exists():
            tracker(CallSeen("a step"))
            relay.tell()
            (folder / "hanging").write_text(str(os.getpid()))
            end = time.monotonic() + HANGS_SECONDS
            while time.monotonic() < end and not tracker.leash.pulled:
                time.sleep(0.01)
            tracker.check()
        return full_marks(submission, tracker)

    relay = Relay(connection)
    engine = EmbeddedEngine(open_database(folder), grade, workers=folder / "workers", live=relay)
    send(connection, {"ready": "a box"})
    obey(connection, engine)


if __name__ == "__main__":
    work(Path(sys.argv[1]), socket.socket(fileno=int(sys.argv[2])))
