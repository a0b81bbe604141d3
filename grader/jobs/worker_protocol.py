"""The protocol between the pages' process and its grading processes, and the loop that serves it.

Both sides send JSON over a pair of sockets that keeps messages apart. When one of them dies, the other reads the end of
the stream: a grading process without its pages exits at once, and what it held is graded again by the next.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from grader.jobs.embedded import EmbeddedEngine
from grader.jobs.live import Live
from grader.store.records import SubmissionId

MESSAGE_BYTES = 1 << 20  # the longest one tells of a curve: a thousand numbers
TELL_SECONDS = 0.1  # between two words on the same grading
NICENESS = 5  # below the pages, above the submissions
GROUP = Path("/proc/self/autogroup")  # where the kernel groups by session, niceness counts between groups, set here
Message = dict[str, Any]


def send(connection: socket.socket, message: Message, *, hint: bool = False) -> None:
    """Send one message; a listener who is gone is found out by whoever reads.

    A `hint` only saves time, so it is dropped where some hundred messages wait to be read already.
    """
    with suppress(OSError):
        connection.send(json.dumps(message).encode(), socket.MSG_DONTWAIT if hint else 0)


def received(connection: socket.socket) -> Iterator[Message]:
    """Yield the messages of the other side, up to its end."""
    with suppress(OSError):
        while line := connection.recv(MESSAGE_BYTES):
            yield json.loads(line)


class RemoteProgress(Live):
    """The progress of a grading process, reported to the pages' process; steps only every tenth of a second."""

    def __init__(self, connection: socket.socket) -> None:
        """Report over `connection`."""
        super().__init__()
        self._connection = connection
        self._telling = threading.Lock()
        self._news: set[SubmissionId] = set()

    def moved(self, id: SubmissionId) -> None:
        """Say that this submission entered, left or ended its wait."""
        with self._telling:
            send(self._connection, {"moved": id})

    def changed(self, id: SubmissionId) -> None:
        """Keep in mind that there is news of this submission."""
        self._news.add(id)

    def took(self, seconds: float) -> None:
        """Say how long a grading took."""
        send(self._connection, {"took": seconds})

    def tell(self) -> None:
        """Say how far those submissions are of which there is news."""
        while self._news:
            id = self._news.pop()
            with self._telling:  # a step that is told after the end would be kept for ever
                if self.running(id):
                    send(self._connection, {"at": id, **asdict(self.steps(id))})

    def keep_telling(self) -> None:
        """Do so every tenth of a second; for a thread of its own."""
        pause = threading.Event()
        while not pause.wait(TELL_SECONDS):
            self.tell()


def serve_commands(connection: socket.socket, engine: EmbeddedEngine) -> None:
    """Carry out the commands of the pages' process until it says drain; exit if it is gone."""
    for message in received(connection):
        match message:
            case {"run": slots}:
                engine.run(slots)
            case {"wake": queue}:
                engine.wake(queue)
            case {"interrupt": id}:
                engine.interrupt(SubmissionId(id))
            case {"drain": seconds}:
                send(connection, {"drained": engine.drain(seconds)})
                return
    os._exit(1)  # nobody waits for what is being graded; the next start finds it


def lower_priority() -> None:
    """Give the pages' process the first claim on the cores, and leave it to that process to stop this one."""
    os.nice(NICENESS)
    with suppress(OSError):
        GROUP.write_text(str(NICENESS))
    for known in (signal.SIGINT, signal.SIGTERM):
        # Ctrl+C reaches everybody; a handler, unlike ignoring, is not handed down to the sandbox.
        signal.signal(known, lambda *_: None)
