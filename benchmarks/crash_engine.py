"""The same kills with stand-ins for the pages and for the judging: `python -m benchmarks crash-engine`.

A start of the real programs takes seconds, a fork of a process that has everything imported takes a moment, so there
are many more kills here. Hand-ins go through the real service, jobs through the real engines and locks; not real are
HTTP and the grading, which takes a few milliseconds and gives full marks. On Postgres there are two machines.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import typer
from sqlalchemy import select

from benchmarks.crash import Recoveries, rest
from benchmarks.crash_facts import outcomes, wrongs
from benchmarks.crash_site import Processes, Stage
from benchmarks.storm_site import enrol
from grader.errors import NotAllowed
from grader.exercise.catalog import Catalog
from grader.grading_process import assemble
from grader.installation import opened
from grader.jobs.cluster.engine import ClusterEngine
from grader.jobs.engine import EmbeddedEngine, GradingEngine
from grader.jobs.queue import Tracker
from grader.jobs.worker import Retries
from grader.judge.report import Report, Status
from grader.sandbox.plain import PlainBox
from grader.settings import Settings
from grader.store import people
from grader.store.engine import Database, StoreUnavailable
from grader.store.records import Submission, UserId
from grader.store.tables import UserRow

PEOPLE = 200
GRADERS = 4
WRITERS = 2
SECRET = "of both machines, and not to be guessed"
GRADING_SECONDS = 0.03
HUNT_SECONDS = 0.5
ROOM = 40  # jobs that may wait


def grade(url: str, home: Path) -> None:
    """Grade for ever what is in the database."""

    def waits(submission: Submission, _tracker: Tracker) -> Report:
        end = time.monotonic() + GRADING_SECONDS / 2
        while time.monotonic() < end:
            pass  # as long as it judges, and then as long as it waits for the sandbox
        time.sleep(GRADING_SECONDS / 2)
        return Report(submission.exercise, Status.GRADED, 100.0, submission.seed, "cpu", 0.0)

    database = Database(url)
    kind: Callable[..., GradingEngine] = EmbeddedEngine if database.embedded else ClusterEngine
    engine = kind(database, waits, workers=home / "workers", retries=Retries(quick_seconds=600.0))
    engine.run({"cpu": 1})
    threading.Event().wait()


def hand_in(url: str, home: Path, told: Connection, seed: int) -> None:
    """Hand in for ever, as whoever and to whatever comes; tell the id of each that was acknowledged."""
    chance = random.Random(seed)
    service = assemble(Settings(data=home, database_url=url, secret=SECRET), Catalog.load(), PlainBox())
    database = service._database
    with database.read() as session:
        users = [people.user(session, UserId(id)) for id in session.scalars(select(UserRow.id))]
    known = sorted(service.catalog)
    while True:
        time.sleep(chance.uniform(0.0, 0.02))
        if sum(service._queue.depth().values()) > ROOM:
            continue
        person = chance.choice(users)
        assert person is not None
        with suppress(NotAllowed, StoreUnavailable):  # they have one that waits, or were too fast
            told.send(str(service.submit(person, chance.choice(known), "x = 1")))


@dataclass(slots=True)
class Victim:
    """A process, and how to start another one in its place."""

    process: BaseProcess
    begin: Callable[[], tuple[BaseProcess, Connection | None]]
    told: Connection | None

    def kill(self) -> list[str]:
        """Kill it, start another one, and return what it still had said."""
        self.process.kill()
        self.process.join()
        said = self.said()
        self.process, self.told = self.begin()
        return said

    def said(self) -> list[str]:
        """Return what it has said since the last time."""
        found: list[str] = []
        with suppress(EOFError, OSError):
            while self.told is not None and self.told.poll():
                found.append(self.told.recv())
        return found


class Kills:
    """Kills, starts again, and keeps the accounts."""

    def __init__(self, context: ForkServerContext, seen: Processes, url: str, seed: int) -> None:
        """Start everything."""
        self._context, self._seen, self._url = context, seen, url
        self._chance = random.Random(seed)
        self.stages: Counter[Stage] = Counter()
        self.acknowledged: set[str] = set()
        self.graded = Recoveries(seen)
        homes = seen.homes
        self._writers = [self._victim(hand_in, homes[0], n) for n in range(WRITERS)]
        self._graders = [self._victim(grade, homes[n % len(homes)]) for n in range(GRADERS)]

    def _victim(self, work: Callable[..., None], home: Path, *more: int) -> Victim:
        def begin() -> tuple[BaseProcess, Connection | None]:
            heard, told = self._context.Pipe(duplex=False) if more else (None, None)
            arguments: tuple[Any, ...] = (self._url, home, *((told, self._chance.random()) if more else ()))
            process = self._context.Process(target=work, args=arguments, daemon=True)
            process.start()
            if told is not None:
                told.close()
            return process, heard

        process, heard = begin()
        return Victim(process, begin, heard)

    def kill_one(self) -> None:
        """Kill one in a stage that is drawn, or wherever it is after half a second."""
        time.sleep(self._chance.uniform(0.0, 0.3))
        self.hear()
        if self._chance.random() < 0.25:
            self._kill_writer(self._chance.choice(self._writers))
        else:
            self._kill_grader(self._chance.choice([Stage.CLAIM, Stage.GRADE, Stage.JUDGE, Stage.COMMIT]))

    def hear(self) -> None:
        """Take down what was acknowledged."""
        for writer in self._writers:
            self.acknowledged.update(writer.said())

    def end(self) -> None:
        """Stop handing in, and let go on what grades."""
        for writer in self._writers:
            writer.process.kill()
            writer.process.join()
        self.hear()

    def close(self) -> None:
        """End everything."""
        for victim in self._graders:
            victim.process.kill()
            victim.process.join()

    def _kill_writer(self, writer: Victim) -> None:
        pid, end = writer.process.pid, time.monotonic() + HUNT_SECONDS
        assert pid is not None
        while True:
            time.sleep(self._chance.uniform(0.0, 0.01))
            os.kill(pid, signal.SIGSTOP)
            if (writing := self._seen.writes(pid)) or time.monotonic() > end:
                break
            os.kill(pid, signal.SIGCONT)
        self.stages[Stage.STORE if writing else Stage.PAGES] += 1
        self.acknowledged.update(writer.kill())

    def _kill_grader(self, wanted: Stage) -> None:
        end = time.monotonic() + HUNT_SECONDS
        by_pid = {victim.process.pid: victim for victim in self._graders}
        while not (found := {pid: name for pid, name in self._seen.grading().items() if pid in by_pid}):
            time.sleep(0.01)
        pid, name = self._chance.choice(sorted(found.items()))
        while True:
            time.sleep(self._chance.uniform(0.0, 0.01))
            os.kill(pid, signal.SIGSTOP)
            stage, held = self._seen.stage(pid, name)
            if stage is wanted or time.monotonic() > end:
                break
            os.kill(pid, signal.SIGCONT)
        self.stages[stage] += 1
        self.graded.add(held)
        by_pid[pid].kill()


def crash_engine(kills: int = 500, engine: str = "sqlite", seconds: float = 600.0, seed: int = 1) -> None:
    """Kill as often as was asked for, or as the time allows; print where, and whether anything was lost."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["benchmarks.crash_engine"])
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="crash-", ignore_cleanup_errors=True)))
        url, homes = "", [folder / "one"]
        if engine == "postgres":
            from tests.jobs import postgres  # here: the wheel with its binaries is needed for this engine only

            url = postgres.make_database(stack.enter_context(postgres.served()), "gym")
            homes.append(folder / "two")
        settings = Settings(data=homes[0], database_url=url, secret=SECRET)
        enrol(settings, PEOPLE)
        database = opened(settings)
        killing = Kills(context, Processes(homes, database), settings.store_url, seed)
        stack.callback(killing.close)
        killing.graded.begin()
        start = time.monotonic()
        while killing.stages.total() < kills and time.monotonic() < start + seconds:
            killing.kill_one()
        took = time.monotonic() - start
        killing.end()
        rest(Processes(homes, database))
        _show(killing, f"{engine}, seed {seed}, {took:.0f} s")
        found = wrongs(database, killing.acknowledged)
        typer.echo("\n".join(f"BROKEN: {line}" for line in found) or "nothing lost, everything graded once, keys whole")
        typer.echo(f"gradings: {outcomes(database)}")
    if found:
        raise typer.Exit(1)


def _show(killing: Kills, what: str) -> None:
    typer.echo(f"{killing.stages.total()} kills; {what}; {len(killing.acknowledged)} hand-ins acknowledged")
    for stage, number in sorted(killing.stages.items()):
        typer.echo(f"  {number:>5}  {stage}")
    ordered = sorted(killing.graded.end())
    if ordered:
        median, longest = ordered[len(ordered) // 2], ordered[-1]
        typer.echo(f"from a kill until graded again: median {median:.1f} s, longest {longest:.1f} s ({len(ordered)})")
