"""How many submissions one pages' process takes in a second, and what limits it: `python -m benchmarks hand_ins`.

Grading is halted meanwhile, so that what is measured is the way from the request to the stored row. Each student hands
in one submission of a usual length. The requests come from this process, whose own processor time is printed as well:
of two cores each process has one.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import tempfile
import time
from contextlib import closing
from pathlib import Path

import typer

from benchmarks.storm_browser import Address, Browser, Refused, find_events
from benchmarks.storm_site import Site, descendants, seconds_of, served
from grader.exercise.catalog import ROOT
from grader.service.classes.answers import Classes
from grader.settings import Settings
from grader.store.engine import Database

EXERCISE = "causal_attention"
_DAYS = {"opens": -9, "due": 5}  # from now
_SOURCE = (ROOT / "exercises" / EXERCISE / "examples" / "right_plain.py").read_text(encoding="utf-8")


def hand_ins(students: int = 1000, at_once: int = 16, assignments: int = 0) -> None:
    """Print hand-ins a second, the processor time of each process for one, and how long one took.

    With `assignments` the class has so many, and each hand-in counts for one of them.
    """
    with tempfile.TemporaryDirectory(prefix="hand-ins-", ignore_cleanup_errors=True) as folder:
        with served(Path(folder), students, slots=1) as site:
            _assign(folder, assignments)
            halted = descendants(site.pid)
            with closing(sqlite3.connect(_database(folder), isolation_level=None)) as store:
                store.execute("BEGIN IMMEDIATE")  # so that none of them is halted while it writes
                for pid in halted:
                    os.kill(pid, signal.SIGSTOP)
                store.execute("ROLLBACK")
            try:
                asyncio.run(_hand_in(site, at_once))
            finally:
                for pid in halted:
                    os.kill(pid, signal.SIGCONT)
        with closing(sqlite3.connect(_database(folder))) as store:
            (stored,) = store.execute("SELECT count(*) FROM submissions").fetchone()
    typer.echo(f"stored: {stored} of {students}")


def _assign(folder: str, number: int) -> None:
    day = {name: time.strftime("%Y-%m-%dT12:00", time.gmtime(time.time() + 86400 * n)) for name, n in _DAYS.items()}
    with closing(Database(Settings(data=Path(folder)).store_url)) as database:
        classes = Classes(database, clock=time.time)
        for place in range(number):
            items = {EXERCISE if place == 0 else f"exercise {place}": "10"}
            late = {"per_day": "0.1", "at_most": "1", "bank_max": 2, "cutoff": 3}
            fields = {"class": "the-class", "assignment": f"hw{place}", "items": items, **day, "late": late}
            classes.do("admin", "assign", fields)


def _database(folder: str) -> str:
    return Settings(data=Path(folder)).store_url.removeprefix("sqlite:///")


async def _hand_in(site: Site, at_once: int) -> None:
    address = Address(site.port, await find_events(site.port))
    waiting, taken, refused = iter(site.tokens), list[float](), list[str]()

    async def work() -> None:
        for token in waiting:
            begin = time.perf_counter()
            try:
                submission, refusal = await Browser(address, token).event("submit", EXERCISE, _SOURCE)
                if not submission:
                    refused.append(str(refusal))
            except Refused as reason:
                refused.append(str(reason))
            taken.append(time.perf_counter() - begin)

    begin, own, theirs = time.perf_counter(), time.process_time(), seconds_of(site.pid)[0]
    await asyncio.gather(*(work() for _ in range(at_once)))
    seconds, number = time.perf_counter() - begin, len(taken)
    own, theirs = time.process_time() - own, seconds_of(site.pid)[0] - theirs
    taken.sort()
    typer.echo(f"{number / seconds:.0f} hand-ins a second, {at_once} at once; refused: {len(refused)} {refused[:1]}")
    each, load = 1000 * theirs / number, 1000 * own / number
    typer.echo(f"processor time of one: {each:.1f} ms in the pages' process, {load:.1f} ms in this one")
    typer.echo(f"one core of the pages' process is {theirs / seconds:.0%} busy")
    middle, late = (1000 * taken[number * part // 100] for part in (50, 95))
    typer.echo(f"one took {middle:.0f} ms in the median, {late:.0f} ms at p95")
