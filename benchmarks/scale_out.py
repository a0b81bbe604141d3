"""More workers on one Postgres: `python -m benchmarks scale-out --workers 1 --workers 2`.

Everything is a real program with the real sandbox. A backlog is handed in while nobody grades, so many workers with one
slot each are started, and grades a second are counted without the first tenth, which has their start. Then two workers
grade, one of them is killed with all that it started, and the time is taken until what it held is graded by the other;
and once more, where it is stopped with SIGSTOP: it says nothing any more, as with a network that is cut.
The embedded run is `python -m grader serve` on SQLite with as many slots.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated

import typer
from sqlalchemy import text

from benchmarks.storm_site import free_port
from grader.exercise.catalog import ROOT, Catalog
from grader.grading_process import assemble
from grader.sandbox.plain import PlainBox
from grader.settings import PREFIX, Settings
from grader.store import accounts
from grader.store.engine import Database
from grader.store.records import Role
from tests.jobs import postgres

ANSWER = "exercises/softmax/examples/right_detached_max.py"
SECRET = "of all machines of the measurement, and not to be guessed"
PATIENCE_SECONDS = 240.0
WORKER = ("worker", "--queue", "cpu", "--slots", "1")


class Course:
    """Pages that take hand-ins and grade none; on a Postgres, or on SQLite without a URL."""

    def __init__(self, folder: Path, url: str) -> None:
        """Open the store."""
        self.folder, self.url = folder, url
        settings = Settings(data=folder / "pages", database_url=url, secret=SECRET)
        self._service = assemble(settings, Catalog.load(), PlainBox())
        self.database = Database(settings.store_url)
        self.number = 0

    def hand_in(self, number: int) -> None:
        """Hand in as that many new people."""
        source = (ROOT / ANSWER).read_text(encoding="utf-8")
        for _ in range(number):
            name = f"student {self.number}"
            self.number += 1
            with self.database.write() as session:
                person = accounts.add(session, name, Role.STUDENT, key=name, password="", now=0.0)
            self._service.submit(person, "softmax", source)

    def finished(self) -> list[float]:
        """Return when each verdict was stored, in order."""
        with self.database.read() as session:
            found = session.scalars(text("SELECT finished FROM submissions WHERE finished IS NOT NULL"))
            return sorted(map(float, found))

    def holders(self) -> dict[str, set[str]]:
        """Return which submissions each machine is grading."""
        found: dict[str, set[str]] = {}
        with self.database.read() as session:
            for worker, id in session.execute(text("SELECT worker, submission_id FROM jobs WHERE worker <> ''")):
                found.setdefault(worker.split("/")[1], set()).add(id)
        return found

    def await_all(self) -> list[float]:
        """Return when each verdict was stored, once all are."""
        end = time.monotonic() + PATIENCE_SECONDS
        while len(done := self.finished()) < self.number and time.monotonic() < end:
            time.sleep(0.05)
        return done

    def close(self) -> None:
        """Close the store."""
        self._service.stop()
        self.database.close()


@contextmanager
def program(course: Course, name: str, *words: str, **settings: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command of the grader on the course's database in a session of its own, and stop it in the end."""
    given = {"DATA": str(course.folder / name), "SECRET": SECRET, "STOCK_MIB": "0", **settings}
    given |= {"DATABASE_URL": course.url} if course.url else {}
    environment = {**os.environ, **{PREFIX + key: value for key, value in given.items()}}
    with (course.folder / f"{name}.log").open("wb") as log:
        command = [sys.executable, "-m", "grader", *words]
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(90)


def rate(done: list[float]) -> float:
    """Return the grades a second of verdicts at these times, without the first tenth."""
    counted = done[len(done) // 10 :]
    return (len(counted) - 1) / (counted[-1] - counted[0])


def on_postgres(course: Course, workers: int, number: int) -> float:
    """Return the grades a second of so many workers."""
    before = len(course.finished())
    course.hand_in(number)
    with ExitStack() as stack:
        for one in range(workers):
            stack.enter_context(program(course, f"worker {workers} {one}", *WORKER))
        return rate(course.await_all()[before:])


def embedded(folder: Path, slots: int, number: int) -> float:
    """Return the same of one service on SQLite."""
    course = Course(folder, "")
    course.hand_in(number)
    with program(course, "pages", "serve", SLOTS=str(slots), PORT=str(free_port())):
        done = course.await_all()
    course.close()
    return rate(done)


def recovery(course: Course, blow: signal.Signals) -> float:
    """Return the seconds from the loss of one of two workers to the verdict on what it held."""
    with program(course, f"left {blow}", *WORKER), program(course, f"lost {blow}", *WORKER) as lost:
        machine = course.folder / f"lost {blow}" / "workers" / "machine"
        held: set[str] = set()
        while not held:
            if len(course.finished()) + 20 > course.number:
                course.hand_in(20)
            held = course.holders().get(machine.read_text(), set()) if machine.exists() else set()
        family = [lost.pid, *below(lost.pid)]
        for pid in family:
            os.kill(pid, blow)
        start = time.monotonic()
        while held & _waiting(course):
            time.sleep(0.02)
        took = time.monotonic() - start
        course.await_all()
        for pid in family if blow is signal.SIGSTOP else ():
            os.kill(pid, signal.SIGCONT)
    return took


def _waiting(course: Course) -> set[str]:
    with course.database.read() as session:
        return set(session.scalars(text("SELECT submission_id FROM jobs")))


def below(parent: int) -> list[int]:
    """Return the processes below one."""
    found = []
    for children in Path(f"/proc/{parent}/task").glob("*/children"):
        for child in map(int, children.read_text(encoding="ascii").split()):
            found += [child, *below(child)]
    return found


def scale_out(
    workers: Annotated[list[int] | None, typer.Option(help="how many workers; 1, 2 and 4 if left out")] = None,
    grades: int = 200,
) -> None:
    """Measure grades a second of several workers, and how soon a lost one is made up for."""
    with postgres.served() as server, tempfile.TemporaryDirectory(prefix="scale-out-") as name:
        folder = Path(name)
        course = Course(folder, postgres.make_database(server, "gym"))
        typer.echo(f"{len(os.sched_getaffinity(0))} cores, {grades} grades each; grades a second")
        for number in workers or [1, 2, 4]:
            found = on_postgres(course, number, grades)
            beside = embedded(folder / f"embedded {number}", number, grades)
            typer.echo(f"{number} workers on Postgres {found:.1f}, {number} slots on SQLite {beside:.1f}")
        for blow, what in ((signal.SIGKILL, "killed"), (signal.SIGSTOP, "stopped")):
            typer.echo(f"a worker is {what}: what it held is graded after {recovery(course, blow):.1f} s")
        course.close()
