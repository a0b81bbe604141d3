"""The place of the kills: a real installation on either engine, started as programs, and what its processes are doing.

A process is stopped for a few milliseconds to see in which stage it is, and goes on or is killed there.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import IO
from urllib.request import urlopen

from sqlalchemy import text

from grader.exercise.catalog import ROOT
from grader.settings import PREFIX, Settings
from grader.store.engine import Database
from tests.machine import free_port

WAL_WRITER = "120"  # the byte of SQLite's shared file that is locked by whoever writes
SECRET = "of all machines of the crash, and not to be guessed"


class Stage(StrEnum):
    """What a process was doing when it was killed."""

    SUBMIT = "submit: a hand-in is on its way in the pages' process"
    STORE = "submit: the pages' process is in a write transaction"
    PAGES = "the pages' process, with no hand-in on its way"
    MACHINE = "a worker machine, all of it"
    CLAIM = "claim: in a write transaction, with no job yet"
    GRADE = "grade: it waits for the sandbox"
    JUDGE = "judge: it computes inputs, the reference or the verdict"
    COMMIT = "commit: in a write transaction, with a job"
    BETWEEN = "a grading process between two jobs"


@dataclass(slots=True)
class Program:
    """One command of the installation, which is started again when it was killed."""

    words: list[str]
    environment: dict[str, str]
    log: IO[bytes]
    process: subprocess.Popen[bytes] = field(init=False)

    def start(self) -> None:
        """Start it."""
        command = [sys.executable, "-m", "grader", *self.words]
        self.process = subprocess.Popen(
            command, cwd=ROOT, env={**os.environ, **self.environment}, stdout=self.log, stderr=self.log
        )

    def end(self) -> None:
        """Stop it as an operator does."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(120)


@dataclass(slots=True)
class Processes:
    """The processes of an installation, as the kernel and the database show them.

    Attributes:
        homes: the data directories of its machines; with SQLite the database is in the first one.
        database: where the jobs are.
    """

    homes: list[Path]
    database: Database

    def grading(self) -> dict[int, str]:
        """Return the processes that grade now, and the name under which each claims jobs."""
        files = {file.stat().st_ino: file.stem for home in self.homes for file in _present(home)}
        return {pid: files[inode] for pid, inode, _ in kernel_locks() if inode in files}

    def held(self, name: str = "") -> set[str]:
        """Return the submissions that a process has claimed; those of all without a name."""
        query = text("SELECT submission_id FROM jobs WHERE worker LIKE :name")
        with self.database.read() as session:
            return set(session.scalars(query, {"name": f"{name}%"}))

    def verdicts(self) -> int:
        """Return how many gradings are stored."""
        with self.database.read() as session:
            return session.scalar(text("SELECT count(*) FROM gradings")) or 0

    def writes(self, pid: int) -> bool:
        """Return whether a process is in a transaction that has written."""
        if self.database.embedded:
            shared = (self.homes[0] / "attention_gym.sqlite3-shm").stat().st_ino
            return any(owner == pid and (inode, at) == (shared, WAL_WRITER) for owner, inode, at in kernel_locks())
        query = text("SELECT client_port FROM pg_stat_activity WHERE backend_xid IS NOT NULL")
        with self.database.read() as session:
            return bool(set(session.scalars(query)) & _ports(pid))

    def stage(self, pid: int, name: str) -> tuple[Stage, set[str]]:
        """Return what a grading process that was stopped a moment ago is doing, and the jobs it holds."""
        held, writing = self.held(name), self.writes(pid)
        if writing:
            return (Stage.COMMIT if held else Stage.CLAIM), held
        if not held:
            return Stage.BETWEEN, held
        return (Stage.JUDGE if _computes(pid) else Stage.GRADE), held


@dataclass(slots=True)
class Installation:
    """The pages and, on Postgres, worker machines."""

    port: int
    pages: Program
    workers: list[Program]
    seen: Processes

    def await_pages(self, seconds: float = 120.0) -> None:
        """Wait until the pages answer."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                with urlopen(f"http://127.0.0.1:{self.port}/health", timeout=1):
                    return
            except OSError:
                time.sleep(0.02)
        raise SystemExit(f"the pages were not there after {seconds:g} s")


@contextmanager
def installed(folder: Path, url: str = "", *, workers: int = 0, pages_slots: int = 2) -> Iterator[Installation]:
    """Start an installation in `folder`; on the Postgres of `url` with so many worker machines of one slot each."""
    port = free_port()
    common = {"SECRET": SECRET, **({"DATABASE_URL": url} if url else {})}
    homes = [folder / name for name in ("pages", *(f"worker {n}" for n in range(workers)))]
    with (folder / "log").open("wb") as log:
        own = _named({**common, "DATA": str(homes[0]), "PORT": str(port), "SLOTS": str(pages_slots)})
        pages = Program(["serve"], own, log)
        others = [
            Program(["worker", "--queue", "cpu", "--slots", "1"], _named({**common, "DATA": str(home)}), log)
            for home in homes[1:]
        ]
        settings = Settings(data=homes[0], database_url=url)
        database = Database(settings.store_url)
        for program in (pages, *others):
            program.start()
        try:
            site = Installation(port, pages, others, Processes(homes, database))
            site.await_pages()
            yield site
        finally:
            for program in (pages, *others):
                program.end()
            database.close()


def kernel_locks() -> Iterator[tuple[int, int, str]]:
    """Yield each lock of a file that is held: the process, the file's number, the first byte."""
    for line in Path("/proc/locks").read_text(encoding="ascii").splitlines():
        fields = line.split()
        if "->" not in fields:
            yield int(fields[4]), int(fields[5].rpartition(":")[2]), fields[6]


def _named(values: dict[str, str]) -> dict[str, str]:
    return {PREFIX + name: value for name, value in values.items()}


def _present(home: Path) -> Iterator[Path]:
    for file in (home / "workers").glob("*.lock"):
        if file.exists():
            yield file


def _ports(pid: int) -> set[int]:
    """Return the local ports of a process's connections."""
    inodes = set()
    with suppress(OSError):
        for file in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):
                inodes.add(os.readlink(file))
    lines = [line.split() for line in Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:]]
    return {int(line[1].partition(":")[2], 16) for line in lines if f"socket:[{line[9]}]" in inodes}


def _computes(pid: int) -> bool:
    """Return whether a thread of a stopped process was on a processor: it is stopped outside of any system call."""
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(OSError):
            if (task / "syscall").read_text(encoding="ascii").startswith(("-1", "running")):
                return True
    return False
