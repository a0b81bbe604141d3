"""The place of the storm: the real command that serves the pages, a class with its sessions, and what it all costs."""

from __future__ import annotations

import hashlib
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

from sqlalchemy import text

from grader.exercise.catalog import ROOT
from grader.settings import PREFIX, Settings
from grader.store import migrate, people
from grader.store.engine import Database
from grader.store.records import Role
from tests.machine import free_port, stat_of

START_SECONDS = 600
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Site:
    """A served class: its port, the process that serves it, one session's token per student, and where its data is."""

    port: int
    pid: int
    tokens: list[str]
    data: Path


@dataclass(frozen=True, slots=True)
class Stored:
    """A submission as it ended up: how often it was taken, and how many reports there are on it."""

    user: str
    state: str
    score: float | None
    seed: int
    tries: int
    reports: int


@contextmanager
def served(data: Path, students: int, slots: int | None = None) -> Iterator[Site]:
    """Serve a class of so many students in processes of its own, as `attention-gym serve` does."""
    tokens = enrol(Settings(data=data), students)
    port = free_port()
    ours = {"DATA": str(data), "PORT": str(port), **({"SLOTS": str(slots)} if slots else {})}
    environment = {**os.environ, **{PREFIX + name: value for name, value in ours.items()}}
    with (data / "log").open("wb") as log:
        server = subprocess.Popen([sys.executable, "-m", "grader", "serve"], cwd=ROOT, env=environment, stdout=log)
    try:
        _await(server, port)
        yield Site(port, server.pid, tokens, data)
    finally:
        server.terminate()
        server.wait(60)


def enrol(settings: Settings, students: int) -> list[str]:
    """Store that many students, each signed in; return the tokens of their sessions.

    Written straight into the store: five hundred sign-ins are a minute of argon2, and no part of the storm.
    """
    database, now = Database(settings.store_url), time.time()
    migrate.upgrade(database)
    tokens = [secrets.token_urlsafe(32) for _ in range(students)]
    with database.write() as session:
        for number, token in enumerate(tokens):
            name = f"Student {number:03}"
            user = people.add(session, name, Role.STUDENT, key=name.lower(), password="", now=now)
            digest = hashlib.sha256(token.encode()).hexdigest()
            people.open_session(session, user.id, digest=digest, now=now, expires=now + 36000)
    database.close()
    return tokens


def read_stored(data: Path) -> list[Stored]:
    """Return every submission, in the order of the students."""
    database = Database(Settings(data=data).store_url)
    query = """
        SELECT u.name, s.state, MAX(g.score), s.seed, COALESCE(MAX(g.try_number), 0), COUNT(g.id) FROM submissions s
        JOIN users u ON u.id = s.user_id LEFT JOIN gradings g ON g.submission_id = s.id GROUP BY s.id ORDER BY u.name
    """
    with database.read() as session:
        found = [Stored(*row) for row in session.execute(text(query))]
    database.close()
    return found


def seconds_of(pid: int) -> tuple[float, float]:
    """Return the processor seconds of a process, and of all that come from it, ended ones included."""
    own, reaped = _times(pid)
    return own, reaped + sum(sum(_times(child)) for child in descendants(pid))


def descendants(pid: int) -> list[int]:
    """Return the processes that come from a process, at whatever remove."""
    parents = {int(entry.name): _parent(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()}
    found, level = [], [pid]
    while level := [child for child, parent in parents.items() if parent in level]:
        found += level
    return found


def _parent(pid: str) -> int:
    fields = stat_of(pid)
    return int(fields[1]) if fields else 0


def _times(pid: int) -> tuple[float, float]:
    fields = stat_of(pid)
    if not fields:
        return 0.0, 0.0
    return (int(fields[11]) + int(fields[12])) / TICKS, (int(fields[13]) + int(fields[14])) / TICKS


def _await(server: subprocess.Popen[bytes], port: int) -> None:
    end = time.monotonic() + START_SECONDS
    while server.poll() is None and time.monotonic() < end:
        try:
            with urlopen(f"http://127.0.0.1:{port}/health", timeout=1):
                return
        except OSError:
            time.sleep(0.1)
    raise SystemExit(f"the pages were not there after {START_SECONDS} seconds, exit status {server.poll()}")
