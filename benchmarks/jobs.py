"""The job engines on this machine, on SQLite and on Postgres: `python -m benchmarks jobs`.

From the commit of a submission to the first line of its grading, submissions stored a second, jobs run a second, and
what an idle engine costs. The grading only notes that it was called.
"""

from __future__ import annotations

import random
import statistics
import tempfile
import threading
import time
from pathlib import Path

import typer

from grader.jobs.cluster import library
from grader.jobs.cluster.engine import ClusterEngine
from grader.jobs.embedded import EmbeddedEngine
from grader.jobs.queue import Tracker
from grader.judge.report import Report, Status
from grader.store import accounts, migrate, submissions
from grader.store.engine import Database
from grader.store.records import Role, Submission, SubmissionId, User
from tests.jobs import postgres

SLOTS = 4


class Course:
    """A database with an engine whose grading only notes when it was called."""

    def __init__(self, folder: Path, url: str) -> None:
        self.database = Database(url)
        migrate.upgrade(self.database)
        self.begun: dict[str, float] = {}
        self.all_done = threading.Semaphore(0)
        if not self.database.embedded:
            with self.database.engine.begin() as connection:
                library.install(connection)
        kind = EmbeddedEngine if self.database.embedded else ClusterEngine
        self.engine = kind(self.database, self._grade, workers=folder / "workers")

    def _grade(self, submission: Submission, _tracker: Tracker) -> Report:
        self.begun[submission.id] = time.perf_counter()
        self.all_done.release()
        return Report(submission.exercise, Status.GRADED, 100.0, 1, "cpu", 0.0)

    def add_people(self, number: int) -> list[User]:
        """Store that many students."""
        with self.database.write() as session:
            names = (f"student {n}" for n in range(number))
            return [accounts.add(session, name, Role.STUDENT, key=name, password="", now=0.0) for name in names]

    def submit(self, user: User, exercise: str) -> float:
        """Hand in 3 KB; return when that was committed."""
        id = SubmissionId(f"{exercise}-{user.id}")
        now = time.time()
        draft = Submission(
            id=id,
            user=user.id,
            exercise=exercise,
            exercise_version="v",
            raw=b"#" * 3000,
            seed=1,
            device="cpu",
            created=now,
        )
        with self.database.write() as session:
            submissions.add(session, draft)
            self.engine.submit(session, id, queue="cpu", priority=round(now * 1000))
        return time.perf_counter()


def latency(course: Course, people: list[User]) -> str:
    """Hand in at random gaps of 30 to 120 ms; return the milliseconds from the commit to the first line."""
    chance = random.Random(1)
    course.engine.start({"cpu": SLOTS})
    time.sleep(2.0)
    committed = {}
    for user in people:
        time.sleep(chance.uniform(0.03, 0.12))
        committed[f"latency-{user.id}"] = course.submit(user, "latency")
    for _ in people:
        course.all_done.acquire()
    waits = sorted(1000 * (course.begun[id] - moment) for id, moment in committed.items())
    return f"commit to start: p50 {statistics.median(waits):.1f} ms, p99 {waits[round(0.99 * len(waits)) - 1]:.1f} ms"


def idle(seconds: float = 5.0) -> str:
    """Do nothing for a while; return what that cost."""
    before = time.process_time()
    time.sleep(seconds)
    return f"idle: {100 * (time.process_time() - before) / seconds:.2f} % of a core with {SLOTS} slots"


def throughput(course: Course, people: list[User]) -> str:
    """Hand in without pause while nothing runs, then let it run."""
    course.engine.drain(10.0)
    start = time.perf_counter()
    for user in people:
        course.submit(user, "throughput")
    stored = time.perf_counter()
    course.engine.start({"cpu": SLOTS})
    for _ in people:
        course.all_done.acquire()
    course.engine.drain(10.0)
    done = time.perf_counter()
    return f"stored: {len(people) / (stored - start):.0f} a second; run: {len(people) / (done - stored):.0f} a second"


def jobs(people: int = 1000) -> None:
    """Measure how soon a job begins, how many there can be a second, and what nothing costs, on either engine."""
    with tempfile.TemporaryDirectory() as name, postgres.served() as server:
        folder = Path(name)
        for what, url in (
            ("SQLite", f"sqlite:///{folder / 'class.sqlite3'}"),
            ("Postgres", postgres.make_database(server, "jobs")),
        ):
            course = Course(folder / what, url)
            students = course.add_people(people)
            typer.echo(f"{what}: {latency(course, students[:150])}; {idle()}; {throughput(course, students)}")
            course.database.close()
