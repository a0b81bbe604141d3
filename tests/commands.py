"""Every command of the command line, read off it, for tests that try them all."""

from __future__ import annotations

import logging
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from typer.main import get_command

from grader.cli.main import make_app


def commands() -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield each command: its words, such as `("user", "add")`, and what typer has made of it."""
    left: list[tuple[tuple[str, ...], Any]] = [((), get_command(make_app()))]
    while left:
        words, command = left.pop(0)
        inner = getattr(command, "commands", None)
        if inner is None:
            yield words, command
        else:
            left = [*(((*words, name), one) for name, one in inner.items()), *left]  # in the order of the help


# Commands that touch no database. One that is neither here nor has its arguments below fails the tests that try all.
LOCAL = {"grade", "doctor", "exercise"}
ARGUMENTS = {
    "name": "Ada", "id": "0" * 24, "file": "given.zip", "to": "--to=postgresql://nobody@127.0.0.1:1/none",
    "key": "A", "new": "B", "zone": "--zone=UTC", "weeks": "--weeks=1", "form": "--format=csv", "assignment": "A-1",
    "exercise": "softmax", "person": "ada@school.edu",
}  # fmt: skip


def commands_on_data() -> Iterator[tuple[tuple[str, ...], list[str]]]:
    """Yield the words of each command that touches the database, and what it must be given."""
    for words, command in commands():
        if words[0] not in LOCAL:
            needed = [ARGUMENTS[one.name] for one in command.params if one.required]
            yield words, needed + ["--password-stdin"] * (words == ("user", "add"))


@contextmanager
def process_kept() -> Iterator[None]:
    """Put back the handlers of signals and the log, which `worker` changes since it has its process for itself."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    on_signals = {known: signal.getsignal(known) for known in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for known, handler in on_signals.items():
            signal.signal(known, handler)
        logging.captureWarnings(False)
        root.handlers[:] = handlers
        root.setLevel(level)
