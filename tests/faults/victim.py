"""The real service in a process of its own, which the tests take things away from.

Only the pauses between tries are shorter than those of an installation.
"""

from __future__ import annotations

import logging
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from subprocess import PIPE
from typing import Any

import torch
from sqlalchemy import event

from grader import grading_process, installation
from grader.errors import GraderError
from grader.exercise.catalog import Catalog
from grader.jobs.worker import Retries
from grader.sandbox.walls import kernel
from grader.service import Service
from grader.settings import Settings
from grader.store.records import Role, SubmissionId, User

_NEW_MOUNTS, _PRIVATE, _RECURSIVE = 0x20000, 1 << 18, 16384
RIVAL = """
import sqlite3, sys
rival = sqlite3.connect(sys.argv[1], isolation_level=None)
rival.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
sys.stdin.read()
"""
DISK_BYTES = 16 << 20
PATIENCE_SECONDS = 0.2  # that a write waits for another process


class _Log(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


class _Desk:
    def __init__(self, service: Service, folder: Path, log: _Log) -> None:
        self._service = service
        self._folder = folder
        self._log = log
        self._people: dict[str, User] = {}

    def enter(self, name: str) -> None:
        self._people[name] = self._service.add_user(name, "correct horse battery", Role.STUDENT)

    def submit(self, name: str, exercise: str, source: str) -> SubmissionId:
        return self._service.submit(self._people[name], exercise, source)

    def outcome(self, name: str, id: SubmissionId) -> tuple[str, str | None]:
        found = self._service.submission(self._people[name], id)
        return found.state.value, found.report.to_json() if found.report else None

    def used(self, name: str) -> dict[str, int]:
        you = self._people[name].id
        lines = {exercise: self._service.leaderboard(exercise) for exercise in self._service.catalog}
        return {exercise: line.attempts for exercise, board in lines.items() for line in board if line.user == you}

    def unfinished(self, name: str, exercise: str) -> SubmissionId | None:
        return self._service.unfinished(self._people[name], exercise)

    def stored(self, name: str) -> int:
        return len(self._service.attempts(self._people[name]))

    def logged(self) -> str:
        return "\n".join(self._log.lines)

    def forget(self) -> None:
        self._log.lines.clear()

    def fill(self) -> None:
        with self._service._database.engine.connect() as connection:  # room in the log that was used before would do
            connection.connection.dbapi_connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # type: ignore[union-attr]
        with open(self._folder / "ballast", "wb", buffering=0) as file:
            size = 1 << 16
            while size:
                try:
                    file.write(bytes(size))
                except OSError:
                    size //= 2

    def clear(self) -> None:
        (self._folder / "ballast").unlink()

    def lock(self) -> None:
        (file,) = self._folder.glob("*.sqlite3")
        self._rival = subprocess.Popen([sys.executable, "-c", RIVAL, file], stdin=PIPE, stdout=PIPE)
        assert self._rival.stdout is not None
        assert self._rival.stdout.readline() == b"locked\n"

    def unlock(self) -> None:
        self._rival.kill()
        self._rival.communicate()

    def protect(self) -> None:
        """Let SQLite take the file for one that may only be read; the file system's own switch waits for open files."""
        event.listen(self._service._database.engine, "checkout", _protect)

    def unprotect(self) -> None:
        event.remove(self._service._database.engine, "checkout", _protect)
        self._service._database.engine.dispose()

    def take_descriptors(self) -> None:
        taken = os.dup(0)
        os.close(taken)
        resource.setrlimit(resource.RLIMIT_NOFILE, (taken, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))

    def give_back(self) -> None:
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _protect(connection: Any, *_: object) -> None:
    connection.execute("PRAGMA query_only=ON")


def serve(folder: Path, root: Path, line: Connection) -> None:
    """Be the service over the exercises below `root`, on a small disk of its own if that is granted."""
    torch.set_num_threads(1)
    log = _Log()
    logging.getLogger().addHandler(log)
    own_disk = _mounted(folder)
    settings = Settings(data=folder, slots=2, class_code="green-tree", secret="s" * 40)
    retries = Retries(pauses=(0.05, 0.2), rests=(0.05, 0.1))
    box = installation.choose(settings)
    service = grading_process.assemble(settings, Catalog.load(root), box, retries=retries, patience=PATIENCE_SECONDS)
    service.start()
    line.send(own_disk)
    desk = _Desk(service, folder, log)
    while (asked := line.recv()) is not None:
        line.send(_answer(getattr(desk, asked[0]), asked[1:]))
    service.stop()


def _mounted(folder: Path) -> bool:
    try:
        kernel.unshare(_NEW_MOUNTS)
        kernel.mount("none", "/", flags=_RECURSIVE | _PRIVATE)
        kernel.mount("tmpfs", str(folder), kind="tmpfs", flags=0, options=f"size={DISK_BYTES}")
    except OSError:
        return False
    return True


def _answer(method: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Return what a method returns; what it raised, as the family it belongs to and its text."""
    try:
        return method(*arguments)
    except GraderError as error:
        family = next(kind for kind in type(error).__mro__ if kind.__base__ is GraderError)
        return Refused(family.__name__, str(error))


class Refused:
    def __init__(self, family: str, text: str) -> None:
        self.family = family
        self.text = text
