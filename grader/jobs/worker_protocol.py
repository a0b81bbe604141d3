"""The grading process's side of the conversation with the pages' process.

When one of them dies, the other reads the end of the stream: a grading process without its pages exits at once, and
what it held is graded again by the next.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial

from grader.errors import GraderFault
from grader.jobs.engine import GradingEngine
from grader.jobs.live import Live
from grader.jobs.messages import (
    Advanced,
    Drain,
    Interrupt,
    Message,
    Moved,
    RunTryout,
    StartWorkers,
    Took,
    TryoutDone,
    Wake,
    received,
    send,
)
from grader.jobs.tryouts import TryoutOutcome, Tryouts
from grader.store.records import SubmissionId

TELL_SECONDS = 0.1  # between two words on the same grading


class RemoteProgress(Live):
    """The progress of a grading process, reported to whoever shows it; steps only every tenth of a second."""

    def __init__(self, report: Callable[[Message], bool]) -> None:
        """Report by `report`."""
        super().__init__()
        self._report = report
        self._telling = threading.Lock()
        self._news: set[SubmissionId] = set()
        self._something = threading.Event()

    def moved(self, id: SubmissionId) -> None:
        """Say that this submission entered, left or ended its wait."""
        with self._telling:
            self._report(Moved(id))

    def changed(self, id: SubmissionId) -> None:
        """Keep in mind that there is news of this submission."""
        self._news.add(id)
        self._something.set()

    def took(self, seconds: float) -> None:
        """Say how long a grading took."""
        self._report(Took(seconds))

    def tell(self) -> None:
        """Say how far those submissions are of which there is news."""
        while self._news:
            id = self._news.pop()
            with self._telling:  # a step that is told after the end would be kept for ever
                if self.running(id):
                    self._report(Advanced(id, self.steps(id)))

    def keep_telling(self) -> None:
        """Do so every tenth of a second while there is news; for a thread of its own."""
        while self._something.wait():
            self._something.clear()  # first, so that what comes from now on is told at the next time
            self.tell()
            time.sleep(TELL_SECONDS)


def serve_commands(connection: socket.socket, engine: GradingEngine, tryouts: Tryouts) -> None:
    """Carry out the commands of the pages' process until it says drain; exit if it is gone."""
    for message in received(connection):
        match message:
            case StartWorkers(slots):
                engine.run(slots)
            case Wake(queue):
                engine.wake(queue)
            case Interrupt(id):
                engine.interrupt(id)
            case RunTryout(number, request):
                tryouts.try_out(request).add_done_callback(partial(_tell_tryout, connection, number))
            case Drain(seconds):
                engine.drain(seconds)
                return
            case _:
                raise GraderFault(f"a grading process takes no such command: {message}")
    os._exit(1)  # nobody waits for what is being graded; the next start finds it


def _tell_tryout(connection: socket.socket, number: int, done: Future[str]) -> None:
    outcome = TryoutOutcome.of(done)
    send(connection, TryoutDone(number, outcome.body, outcome.refusal, outcome.fault))
