"""A system on which nothing happens: `python -m benchmarks quiet`, on SQLite and on Postgres.

How long a hand-in waits until its grading begins, from the commit to the first line of the grading, with the real
engine, one slot, and a grading that only takes the time. And what `attention-gym serve` costs while nobody comes:
the processor time of all its processes, and of Postgres. The tables of prepared gradings are left out.
"""

from __future__ import annotations

import os
import random
import statistics
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import typer

from benchmarks.scale_out import Course, below, program
from grader.jobs.cluster.engine import ClusterEngine
from grader.jobs.engine import EmbeddedEngine, GradingEngine
from grader.jobs.queue import Tracker
from grader.judge.report import Report
from grader.store.records import Submission
from tests.jobs import postgres
from tests.jobs.classroom import full_marks, hand_in
from tests.machine import free_port

SETTLE_SECONDS = 30.0  # after the first answer: the second grading process warms up, too


def waits(course: Course, rounds: int) -> list[float]:
    """Return the milliseconds from a commit to the first line of the grading, with random gaps between hand-ins."""
    begun, chance, found = threading.Semaphore(0), random.Random(1), []
    moments: list[float] = []

    def grade(submission: Submission, tracker: Tracker) -> Report:
        moments.append(time.perf_counter())
        begun.release()
        return full_marks(submission, tracker)

    kind: Callable[..., GradingEngine] = EmbeddedEngine if course.database.embedded else ClusterEngine
    engine = kind(course.database, grade, workers=course.folder / "engine" / "workers")
    engine.run({"cpu": 1})
    for n in range(rounds + 1):
        time.sleep(chance.uniform(0.1, 0.3))
        hand_in(course.database, engine, f"quiet {n}")
        committed = time.perf_counter()
        begun.acquire()
        found.append(1000 * (moments[-1] - committed))
    engine.drain(10.0)
    return found[1:]  # the first one has to open connections


def idle(course: Course, seconds: float, *others: int) -> float:
    """Return what an idle service and these other processes take, in percent of a core."""
    port = free_port()
    with program(course, "idle", "serve", PORT=str(port)) as process:
        while not _answers(port):
            time.sleep(0.2)
        time.sleep(SETTLE_SECONDS)
        trees = (process.pid, *others)
        before, start = _spent(trees), time.monotonic()
        time.sleep(seconds)
        return 100 * (_spent(trees) - before) / (time.monotonic() - start)


def _answers(port: int) -> bool:
    with suppress(urllib.error.URLError), urllib.request.urlopen(f"http://127.0.0.1:{port}/ready") as answer:
        return bool(answer.status == 200)
    return False


def _spent(trees: tuple[int, ...]) -> float:
    """Return the seconds of processor time of these processes and all below them, those that ended included."""
    ticks = 0
    for pid in [one for root in trees for one in (root, *below(root))]:
        with suppress(OSError):
            fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
            ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def quiet(rounds: int = 100, seconds: float = 60.0) -> None:
    """Print both figures for both engines; the goals are 20 ms in the median, and 2 % of a core."""
    with postgres.running() as server, tempfile.TemporaryDirectory(prefix="quiet-") as name:
        folder = Path(name)
        places = (("SQLite", folder / "one", "", ()), ("Postgres", folder / "two", server.url, (server.pid,)))
        typer.echo(f"{len(os.sched_getaffinity(0))} cores, load {os.getloadavg()[0]:.1f}")
        for engine, home, url, others in places:
            course = Course(home, url and postgres.make_database(url, "gym"))
            found = sorted(waits(course, rounds))
            cost = idle(course, seconds, *others)
            course.close()
            typer.echo(
                f"{engine}: from the commit to the grading {statistics.median(found):.1f} ms in the median, "
                f"{found[round(0.95 * len(found)) - 1]:.1f} ms in p95, {rounds} times; idle {cost:.2f} % of a core"
            )
