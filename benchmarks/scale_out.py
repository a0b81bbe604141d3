"""More workers on one Postgres: `python -m benchmarks scale-out --workers 1 --workers 2`.

Where root runs it, each worker is in a network namespace of its own and reaches Postgres over a cable of its own. In
the first rows everything is a real program with the real sandbox. A backlog is handed in while nobody grades, so many
workers with one slot each are started, and grades a second are counted without the first tenth, which has their start.
The embedded run is `attention-gym serve` on SQLite with as many slots. In the next rows grading only sleeps
(`benchmarks.sleepers`), so the cores of this machine do not decide.
Then two real workers grade and one of them is lost, and the time is taken until what it held is graded by the other: it
is killed with all that it started; it is stopped with SIGSTOP; its network is cut.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from sqlalchemy import text

from benchmarks.sleepers import SLEEP_SECONDS, all_sleeping, sleeping
from grader.exercise.catalog import ROOT, Catalog
from grader.grading_process import assemble
from grader.sandbox.plain import PlainBox
from grader.settings import PREFIX, Settings
from grader.store import people
from grader.store.engine import Database
from grader.store.records import Role
from tests.jobs import networks, postgres
from tests.jobs.networks import Network
from tests.machine import free_port

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
                person = people.add(session, name, Role.STUDENT, key=name, password="", now=0.0)
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


@dataclass(frozen=True, slots=True)
class Place:
    """Where a worker is: the address at which it reaches the database, and its network, if it has one of its own."""

    url: str
    network: Network | None = None

    @property
    def namespace(self) -> str:
        """The name of its network namespace, or nothing."""
        return self.network.name if self.network else ""

    def enter(self) -> None:
        """Have the process that begins here be there."""
        if self.network is not None:
            networks.enter(self.network.name)


@contextmanager
def places(number: int) -> Iterator[tuple[str, list[Place]]]:
    """Give the URL of a database on a Postgres, and so many places to work at."""
    with ExitStack() as stack:
        found = [] if networks.missing() else [stack.enter_context(networks.network()) for _ in range(number)]
        server = stack.enter_context(postgres.running(*(network.here for network in found)))
        url = postgres.make_database(server.url, "gym")
        yield url, [Place(f"{server.url_at(network.here)}/gym", network) for network in found] or [Place(url)] * number


@contextmanager
def program(
    course: Course, name: str, *words: str, place: Place | None = None, **settings: str
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command of the grader on the course's database in a session of its own, and stop it in the end."""
    url = place.url if place else course.url
    given = {"DATA": str(course.folder / name), "SECRET": SECRET, **settings}
    given |= {"DATABASE_URL": url} if url else {}
    environment = {**os.environ, **{PREFIX + key: value for key, value in given.items()}}
    with (course.folder / f"{name}.log").open("wb") as log:
        command = [sys.executable, "-m", "grader", *words]
        enter = place.enter if place else None
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log, preexec_fn=enter)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(90)


def rate(done: list[float]) -> float:
    """Return the grades a second of verdicts at these times, without the first tenth."""
    counted = done[len(done) // 10 :]
    return (len(counted) - 1) / (counted[-1] - counted[0])


def on_postgres(course: Course, at: list[Place], number: int) -> float:
    """Return the grades a second of a worker at each place."""
    before = len(course.finished())
    course.hand_in(number)
    with ExitStack() as stack:
        for one, place in enumerate(at):
            stack.enter_context(program(course, f"worker {len(at)} {one}", *WORKER, place=place))
        return rate(course.await_all()[before:])


def embedded(folder: Path, slots: int, number: int) -> float:
    """Return the same of one service on SQLite."""
    course = Course(folder, "")
    course.hand_in(number)
    with program(course, "pages", "serve", SLOTS=str(slots), PORT=str(free_port())):
        done = course.await_all()
    course.close()
    return rate(done)


def asleep_on_postgres(course: Course, at: list[Place], number: int) -> float:
    """Return the grades a second of a worker at each place whose grading sleeps."""
    before = len(course.finished())
    with all_sleeping([(place.url, place.namespace) for place in at], course.folder):
        course.hand_in(number)
        return rate(course.await_all()[before:])


def asleep_on_sqlite(folder: Path, slots: int, number: int) -> float:
    """Return the same of one process on SQLite with so many slots."""
    course = Course(folder, "")
    with sleeping(str(course.database.engine.url), folder / "engine", slots):
        course.hand_in(number)
        done = course.await_all()
    course.close()
    return rate(done)


def recovery(course: Course, at: list[Place], blow: str) -> float:
    """Return the seconds from the loss of one of two workers to the verdict on what it held."""
    names = f"left {blow}", f"lost {blow}"
    with program(course, names[0], *WORKER, place=at[0]), program(course, names[1], *WORKER, place=at[1]) as lost:
        machine = course.folder / names[1] / "workers" / "machine"
        held: set[str] = set()
        while not held:
            if len(course.finished()) + 20 > course.number:
                course.hand_in(20)
            held = course.holders().get(machine.read_text(), set()) if machine.exists() else set()
        undo = _strike(blow, [lost.pid, *below(lost.pid)], at[1])
        start = time.monotonic()
        while held & _waiting(course):
            time.sleep(0.02)
        took = time.monotonic() - start
        course.await_all()
        undo()
    return took


def _strike(blow: str, family: list[int], place: Place) -> Callable[[], None]:
    """Lose a worker; return what brings it back, as far as that can be done."""
    if blow == "cut off":
        assert place.network is not None
        place.network.cut()
        return place.network.mend
    _signal(family, signal.SIGKILL if blow == "killed" else signal.SIGSTOP)
    return partial(_signal, family if blow == "stopped" else [], signal.SIGCONT)


def _signal(family: list[int], number: signal.Signals) -> None:
    for pid in family:
        os.kill(pid, number)


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
    numbers = workers or [1, 2, 4]
    with places(max(2, *numbers)) as (url, at), tempfile.TemporaryDirectory(prefix="scale-out-") as name:
        folder = Path(name)
        course = Course(folder, url)
        where = networks.missing() or "each worker in a network namespace of its own"
        load = os.getloadavg()[0]
        typer.echo(f"{len(os.sched_getaffinity(0))} cores, load {load:.1f}; {where}; {grades} grades each, a second")
        for number in numbers:
            found = on_postgres(course, at[:number], grades)
            beside = embedded(folder / f"embedded {number}", number, grades)
            typer.echo(f"{number} workers on Postgres {found:.1f}, {number} slots on SQLite {beside:.1f}")
        for number in numbers:
            found = asleep_on_postgres(course, at[:number], grades)
            beside = asleep_on_sqlite(folder / f"asleep {number}", number, grades)
            ideal = number / SLEEP_SECONDS
            typer.echo(
                f"{number} that sleep {SLEEP_SECONDS} s: Postgres {found:.1f}, SQLite {beside:.1f} of {ideal:.0f}"
            )
        for blow in ("killed", "stopped", *(() if networks.missing() else ("cut off",))):
            typer.echo(f"a worker is {blow}: what it held is graded after {recovery(course, at, blow):.1f} s")
        course.close()
