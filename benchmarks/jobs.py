"""The job engines on this machine, on SQLite and on Postgres: `python -m benchmarks jobs`.

Submissions stored a second, and jobs run a second where the grading takes no time. What they do while nothing happens
is measured by `python -m benchmarks quiet`.
"""

from __future__ import annotations

import tempfile
import threading
import time
from pathlib import Path

import typer

from grader.jobs.cluster import library
from grader.jobs.cluster.engine import ClusterEngine
from grader.jobs.engine import EmbeddedEngine
from grader.jobs.queue import Tracker
from grader.judge.report import Report, Status
from grader.store import migrate, people, submissions
from grader.store.engine import Database
from grader.store.records import Role, Submission, SubmissionId, User
from tests.jobs import postgres

SLOTS = 4


class Course:
    """A database with an engine whose grading only notes when it was called."""

    def __init__(self, folder: Path, url: str) -> None:
        self.database = Database(url)
        migrate.upgrade(self.database)
        self.all_done = threading.Semaphore(0)
        if not self.database.embedded:
            with self.database.engine.begin() as connection:
                library.install(connection)
        kind = EmbeddedEngine if self.database.embedded else ClusterEngine
        self.engine = kind(self.database, self._grade, workers=folder / "workers")

    def _grade(self, submission: Submission, _tracker: Tracker) -> Report:
        self.all_done.release()
        return Report(submission.exercise, Status.GRADED, 100.0, 1, "cpu", 0.0)

    def add_people(self, number: int) -> list[User]:
        """Store that many students."""
        with self.database.write() as session:
            names = (f"student {n}" for n in range(number))
            return [people.add(session, name, Role.STUDENT, key=name, password="", now=0.0) for name in names]

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


def throughput(course: Course, people: list[User]) -> str:
    """Hand in without pause while nothing runs, then let it run."""
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
    """Measure how many jobs there can be a second, on either engine."""
    with tempfile.TemporaryDirectory() as name, postgres.served() as server:
        folder = Path(name)
        for what, url in (
            ("SQLite", f"sqlite:///{folder / 'class.sqlite3'}"),
            ("Postgres", postgres.make_database(server, "jobs")),
        ):
            course = Course(folder / what, url)
            students = course.add_people(people)
            typer.echo(f"{what}: {throughput(course, students)}")
            course.database.close()
