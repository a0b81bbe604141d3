"""How a grading process starts: its sandbox first, which takes longest, and beside it all else that it imports."""

from __future__ import annotations

import gc
import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import closing, suppress
from dataclasses import fields
from pathlib import Path
from typing import NoReturn

from grader import search_path
from grader.sandbox.choice import BoxToCome
from grader.sandbox.memory import GRADER_RANK, stand_at
from grader.settings import Settings

NICENESS = 5  # below the pages, above the submissions
GROUP = Path("/proc/self/autogroup")  # where the kernel groups by session, niceness counts between groups, set here


def start(settings: Settings, room: int, connection: socket.socket, place: int) -> subprocess.Popen[bytes]:
    """Start a grading process; what it needs to know goes into its input, since the settings hold secrets.

    All that runs in its sandbox has `room` bytes of memory together; `place` is its number, and the first has the GPU.
    """
    chosen = {field.name: getattr(settings, field.name) for field in fields(settings)}
    process = subprocess.Popen(
        search_path.isolated("grader.grading_entry", "work", str(connection.fileno())),
        pass_fds=[connection.fileno()],
        stdin=subprocess.PIPE,
        start_new_session=True,  # the terminal's Ctrl+C is for the pages' process, which lets this one finish
    )
    assert process.stdin is not None
    with process.stdin as pipe:
        pipe.write(json.dumps([{**chosen, "data": str(settings.data)}, room, place]).encode())
    return process


def work(descriptor: int) -> None:
    """Be a grading process, up to the end of the conversation on `descriptor`."""
    lower_priority()  # first of all: the sandbox inherits it
    stand_at(GRADER_RANK)
    gc.disable()  # until it serves: nothing that is imported is garbage, and looking for some takes a third of the time
    connection = socket.socket(fileno=descriptor)
    chosen, room, place = json.loads(sys.stdin.buffer.read())
    with closing(BoxToCome(room)) as coming:
        signal.signal(signal.SIGUSR1, lambda *_: _abandon(coming))
        from grader.grading_process import serve  # here: it brings torch, while the sandbox warms up

        settings = Settings(**{**chosen, "data": Path(chosen["data"])})
        serve(connection, settings, coming, first=place == 0)
    os._exit(0)  # taking torch apart, object by object, would take half a second


def _abandon(coming: BoxToCome) -> NoReturn:
    """End while nothing is graded yet; without an exception, for the reason that `stopping` gives."""
    coming.kill()
    os._exit(0)


def lower_priority() -> None:
    """Give the pages' process the first claim on the cores, and leave it to that process to stop this one."""
    os.nice(NICENESS)
    with suppress(OSError):
        GROUP.write_text(str(NICENESS))
    for known in (signal.SIGINT, signal.SIGTERM):
        # Ctrl+C reaches everybody; a handler, unlike ignoring, is not handed down to the sandbox.
        signal.signal(known, lambda *_: None)
