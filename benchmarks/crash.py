"""Kills an installation again and again while people hand in: `python -m benchmarks crash --engine postgres`.

The pages and the processes that grade are real programs, with the real sandbox; people hand in over HTTP without pause.
A process is picked and stopped for moments until it is in the stage that was drawn, and is killed there with SIGKILL;
after two seconds it is killed wherever it is. What was killed is started again, by the service itself or, as operators
would, by this program. In the end nothing that was acknowledged may be lost, and everything is graded once.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import tempfile
import threading
import time
from collections import Counter
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path

import typer
from sqlalchemy import text

from benchmarks.crash_facts import outcomes, wrongs
from benchmarks.crash_site import Installation, Processes, Program, Stage, installed
from benchmarks.storm_browser import Address, Browser, find_events
from benchmarks.storm_site import enrol
from grader.exercise.catalog import ROOT
from grader.settings import Settings

PEOPLE = 40
HANDS = 8  # hand-ins that may be on their way at once
HUNT_SECONDS = 2.0
VERDICT_SECONDS = 15.0
REST_SECONDS = 240.0  # for what is open at the end
PAGES_SHARE = 0.06  # of the kills; a start of the pages takes seconds, in which nothing else can be killed
ANSWER = "exercises/softmax/examples/right_detached_max.py"


class People:
    """Hand in without pause, in a thread of their own; `acknowledged` are the ids that they were told."""

    def __init__(self, port: int, tokens: list[str], seed: int) -> None:
        """Begin."""
        self.acknowledged: set[str] = set()
        self.flying = 0
        self.last = 0.0  # when the last one was acknowledged
        self.broken = 0  # hand-ins without an answer
        self._stop = threading.Event()
        self._chance = random.Random(seed)
        self._thread = threading.Thread(target=lambda: asyncio.run(self._all(port, tokens)))
        self._thread.start()

    def end(self) -> None:
        """Let those on their way come to an end."""
        self._stop.set()
        self._thread.join()

    async def _all(self, port: int, tokens: list[str]) -> None:
        address = Address(port, await find_events(port))
        tabs = [Browser(address, token) for token in tokens]
        source = (ROOT / ANSWER).read_text(encoding="utf-8")
        await asyncio.gather(*(self._hand(tabs, source) for _ in range(HANDS)))

    async def _hand(self, tabs: list[Browser], source: str) -> None:
        while not self._stop.is_set():
            await asyncio.sleep(self._chance.uniform(0.0, 0.3))
            self.flying += 1
            try:
                async with asyncio.timeout(30):
                    submission, _ = await self._chance.choice(tabs).event("submit", "softmax", source)
            except Exception:  # noqa: BLE001 - the pages are gone just now; whether it was stored nobody was told
                self.broken += 1
                continue
            finally:
                self.flying -= 1
            if isinstance(submission, str) and submission:  # else one of theirs is not graded yet
                self.acknowledged.add(submission)
                self.last = time.monotonic()


@dataclass(slots=True)
class Recoveries:
    """How long it takes from a kill until what the victim held is graded, and until the pages take hand-ins again."""

    seen: Processes
    open: list[tuple[float, set[str]]] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    _stop: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self) -> None:
        """Look twenty times a second from now on."""
        threading.Thread(target=self._look, daemon=True).start()

    def add(self, held: set[str]) -> None:
        """Wait for what somebody held who was killed just now."""
        with self._lock:
            self.open.append((time.monotonic(), held))

    def end(self) -> list[float]:
        """Return the seconds of all."""
        self._stop.set()
        return self.seconds

    def _look(self) -> None:
        while not self._stop.wait(0.05):
            with suppress(Exception), self.seen.database.read() as session:  # it may be busy; looked at again
                waiting = set(session.scalars(text("SELECT submission_id FROM jobs")))
                with self._lock:
                    now = time.monotonic()
                    self.seconds += [now - at for at, held in self.open if held and not held & waiting]
                    self.open = [(at, held) for at, held in self.open if held & waiting]


class Killer:
    """Kills, and starts again."""

    def __init__(self, site: Installation, people: People, seed: int) -> None:
        """Kill nothing yet."""
        self._site, self._people = site, people
        self._chance = random.Random(seed)
        self.stages: Counter[Stage] = Counter()
        self.graded = Recoveries(site.seen)
        self.taken: list[float] = []  # seconds from a kill of the pages to the next hand-in that is acknowledged

    def kill_one(self) -> None:
        """Kill one process, of a kind that is drawn."""
        self._await_verdict()
        time.sleep(self._chance.uniform(0.0, 0.3))
        kind = self._chance.random()
        if kind < PAGES_SHARE:
            self._kill_pages()
        elif kind < 2 * PAGES_SHARE and self._site.workers:
            self._kill_machine(self._chance.choice(self._site.workers))
        else:
            self._kill_grading(self._chance.choice([Stage.CLAIM, Stage.GRADE, Stage.JUDGE, Stage.COMMIT]))

    def _await_verdict(self) -> None:
        """Let one more be graded, so that the installation gets on between two kills."""
        before, end = self._site.seen.verdicts(), time.monotonic() + VERDICT_SECONDS
        while self._site.seen.verdicts() == before and time.monotonic() < end:
            time.sleep(0.02)

    def _kill_pages(self) -> None:
        pages = self._site.pages.process
        end = time.monotonic() + HUNT_SECONDS
        while True:
            time.sleep(self._chance.uniform(0.0, 0.01))
            pages.send_signal(signal.SIGSTOP)
            writing = self._site.seen.writes(pages.pid)
            if writing or time.monotonic() > end:
                break
            pages.send_signal(signal.SIGCONT)
        self.stages[Stage.STORE if writing else Stage.SUBMIT if self._people.flying else Stage.PAGES] += 1
        self.graded.add(self._site.seen.held())
        self._start_again(self._site.pages)
        start = time.monotonic()
        self._site.await_pages()
        while self._people.last < start:
            time.sleep(0.01)

    def _start_again(self, program: Program) -> None:
        program.process.kill()
        at = time.monotonic()
        program.process.wait()
        program.start()
        if program is self._site.pages:
            threading.Thread(target=self._note_taken, args=(at,), daemon=True).start()

    def _note_taken(self, since: float) -> None:
        while self._people.last < since + 0.1:  # an answer may have been on its way when it was killed
            time.sleep(0.01)
        self.taken.append(self._people.last - since)

    def _kill_machine(self, worker: Program) -> None:
        self.stages[Stage.MACHINE] += 1
        self.graded.add(self._site.seen.held())
        self._start_again(worker)

    def _kill_grading(self, wanted: Stage) -> None:
        end = time.monotonic() + HUNT_SECONDS
        while not (found := self._site.seen.grading()):
            time.sleep(0.05)
        pid, name = self._chance.choice(sorted(found.items()))
        with suppress(ProcessLookupError):
            while True:
                time.sleep(self._chance.uniform(0.0, 0.01))
                os.kill(pid, signal.SIGSTOP)
                stage, held = self._site.seen.stage(pid, name)
                if stage is wanted or time.monotonic() > end:
                    break
                os.kill(pid, signal.SIGCONT)
            os.kill(pid, signal.SIGKILL)
            self.stages[stage] += 1
            self.graded.add(held)


def crash(kills: int = 500, engine: str = "sqlite", seconds: float = 600.0, seed: int = 1) -> None:
    """Kill as often as was asked for, or as the time allows; print where, and whether anything was lost."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="crash-", ignore_cleanup_errors=True)))
        url = ""
        if engine == "postgres":
            from tests.jobs import postgres  # here: the wheel with its binaries is needed for this engine only

            url = postgres.make_database(stack.enter_context(postgres.served()), "gym")
        tokens = enrol(Settings(data=folder / "pages", database_url=url), PEOPLE)
        workers = 1 if url else 0
        site = stack.enter_context(installed(folder, url, workers=workers, pages_slots=2 - workers))
        people = People(site.port, tokens, seed)
        killer = Killer(site, people, seed)
        killer.graded.begin()
        start = time.monotonic()
        try:
            while killer.stages.total() < kills and time.monotonic() < start + seconds:
                killer.kill_one()
        finally:
            people.end()
        took = time.monotonic() - start
        rest(site.seen)
        _show(killer, people, f"{engine}, seed {seed}, {took:.0f} s")
        found = wrongs(site.seen.database, people.acknowledged)
        typer.echo("\n".join(f"BROKEN: {line}" for line in found) or "nothing lost, everything graded once, keys whole")
        typer.echo(f"gradings: {outcomes(site.seen.database)}")
    if found:
        raise typer.Exit(1)


def rest(processes: Processes) -> None:
    """Wait until everything is graded."""
    end = time.monotonic() + REST_SECONDS
    while time.monotonic() < end:
        with processes.database.read() as session:
            if not session.scalar(text("SELECT count(*) FROM jobs")):
                return
        time.sleep(0.1)


def _show(killer: Killer, people: People, what: str) -> None:
    typer.echo(f"{killer.stages.total()} kills; {what}")
    for stage, number in sorted(killer.stages.items()):
        typer.echo(f"  {number:>5}  {stage}")
    typer.echo(f"{len(people.acknowledged)} hand-ins acknowledged, {people.broken} without an answer")
    for name, values in (("graded again", killer.graded.end()), ("pages take hand-ins again", killer.taken)):
        if values:
            ordered = sorted(values)
            median = ordered[len(ordered) // 2]
            typer.echo(f"from a kill until {name}: median {median:.1f} s, longest {ordered[-1]:.1f} s ({len(ordered)})")
