"""Whether the store stays as quick with a million submissions as with a thousand.

Both databases hold the same class with the same results; what differs is how many submissions and reports lie behind
them. They are asked in turn, in one process, so that noise hits both. The database is SQLite, as it is delivered.
"""

from __future__ import annotations

import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch
import typer

from grader.box.run import Box
from grader.exercise.catalog import ROOT, read_exercise
from grader.jobs import claims
from grader.judge.grade import grade
from grader.judge.report import Report, Status
from grader.sandbox.choice import choose_box
from grader.store import migrate, standings, submissions
from grader.store.engine import Database
from grader.store.gradings import Grading, Versions
from grader.store.records import Submission, SubmissionId, UserId
from grader.store.tables import INITIAL_CLASS

_STUDENTS, _EXERCISES, _BUSY = 400, 40, 300  # the first student handed in at least so many
_SOURCE_BYTES, _REPORT_BYTES = 300, 400
_START = 1.7e9  # seconds since the epoch
_SIZES = (10**3, 10**6)
_ROUNDS = 60
_VERSIONS = Versions(exercise="v", grader="g", torch="2.13.0")

_FILL = """
PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA cache_size=-1000000; PRAGMA foreign_keys=OFF;
BEGIN;
CREATE TEMP TABLE n AS
    WITH RECURSIVE c(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM c WHERE i < {size} - 1) SELECT i FROM c;
CREATE TEMP TABLE m AS SELECT i, CASE
    WHEN i < {students} THEN 1 + i WHEN i < {students} + {busy} THEN 1 ELSE 1 + (i * 7919) % {students} END AS user,
    CASE WHEN i < {students} THEN 0 ELSE (i * 104729 / 7) % {exercises} END AS exercise FROM n;
INSERT INTO users (id, name, key, password, created)
    SELECT 1 + i, 'student ' || i, 'student ' || i, 'x', {start} FROM n LIMIT {students};
INSERT INTO memberships (user_id, class_id, role, joined) SELECT id, 1, 'student', created FROM users;
INSERT INTO submissions (id, user_id, exercise, number, state, created, finished, current_grading,
                         exercise_version, seed, device, source)
    SELECT printf('%08x%08x', (i * 2654435761) % 4294967291, i), user, 'exercise ' || exercise, 1000 + i, 'done',
           {start} + i, {start} + i + 1, i + 1, 'v', i, 'cpu', randomblob({source}) FROM m;
INSERT INTO gradings (id, submission_id, reason, status, score, flag, incident, created, try_number, exercise_version,
                      grader_version, torch_version, seed, device, report)
    SELECT current_grading, id, 'hand-in', 'graded', seed % 101, '', '', created, 1, 'v', 'g', '2.13.0', seed, 'cpu',
           hex(randomblob({report} / 2)) FROM submissions;
INSERT INTO bests (user_id, exercise, score, attempts, reached, used)
    SELECT users.id, 'exercise ' || e.i, (users.id * 37 + e.i) % 101, 3, {start}, 9
    FROM users, (SELECT i FROM n LIMIT {exercises}) AS e;
INSERT INTO totals (user_id, score, attempts, reached, solved)
    SELECT user_id, sum(score), sum(attempts), max(reached), sum(score >= 100) FROM bests GROUP BY user_id;
COMMIT; ANALYZE;
"""


def scale() -> None:
    """Print the median milliseconds of a grading and of what is looked up, with few submissions and with many."""
    torch.set_num_threads(1)
    box = choose_box(allow_plain=False)
    with tempfile.TemporaryDirectory(prefix="scale-") as folder:
        stores = [_filled(Path(folder) / f"{size}.sqlite3", size) for size in _SIZES]
        typer.echo(f"{_STUDENTS} students, {_EXERCISES} exercises, {_ROUNDS} rounds in turn")
        typer.echo(f"{'what':<44}{'10³ ms':>10}{'p95':>8}{'10⁶ ms':>10}{'p95':>8}{'ratio':>8}")
        for what, ask in _questions(box).items():
            few, many = _in_turn(stores, ask)
            ratio = statistics.median(many) / statistics.median(few)
            figures = "".join(f"{statistics.median(taken):>10.2f}{_p95(taken):>8.2f}" for taken in (few, many))
            typer.echo(f"{what:<44}{figures}{ratio:>8.2f}")
        for store in stores:
            store.close()


def _filled(path: Path, size: int) -> Database:
    database, start = Database(f"sqlite:///{path}"), time.perf_counter()
    migrate.upgrade(database)
    database.close()  # its journal changes only while nobody else is there
    numbers = {"size": size, "students": _STUDENTS, "exercises": _EXERCISES, "busy": _BUSY, "start": _START}
    with sqlite3.connect(path) as connection:
        connection.executescript(_FILL.format(**numbers, source=_SOURCE_BYTES, report=_REPORT_BYTES))
    connection.close()
    seconds, megabytes = time.perf_counter() - start, path.stat().st_size / 1e6
    typer.echo(f"{size} submissions stored in {seconds:.0f} s, {megabytes:.0f} MB")
    return database


def _in_turn(stores: list[Database], ask: Callable[[Database, int], object]) -> tuple[list[float], list[float]]:
    taken: tuple[list[float], list[float]] = ([], [])
    for number in range(_ROUNDS + 3):  # the first three warm everything up
        for store, times in zip(stores, taken, strict=True):
            start = time.perf_counter()
            ask(store, number)
            if number >= 3:
                times.append((time.perf_counter() - start) * 1000)
    return taken


def _p95(taken: list[float]) -> float:
    return sorted(taken)[round(0.95 * (len(taken) - 1))]


def _known(submission: Submission) -> Report:
    """Return a verdict without looking."""
    return Report(submission.exercise, Status.GRADED, 100.0, submission.seed, "cpu", 0.04)


def _through(box: Box) -> Callable[[Submission], Report]:
    """Return what grades whatever is handed in as causal multi-head attention, in the sandbox."""
    exercise = read_exercise(ROOT / "exercises" / "multi_head_attention_causal")
    source = exercise.reference_path.read_text(encoding="utf-8")
    return lambda submission: grade(exercise, source, seed=submission.seed, box=box)


def _hand_in(store: Database, number: int, verdict: Callable[[Submission], Report]) -> None:
    """Hand one in, take it, grade it, store its verdict, each in its transaction."""
    id, now = SubmissionId(f"{verdict.__qualname__} {number}"), _START + 1e7 + number
    user = UserId(1 + number % _STUDENTS)
    draft = Submission(
        id=id, user=user, exercise=f"exercise {number % 5}", exercise_version="v",
        raw=b"#" * 900, seed=1, device="cpu", created=now,
    )  # fmt: skip
    with store.write() as session:
        submissions.add(session, draft)
        claims.enqueue(session, id, queue="cpu", priority=number, ready=now)
    with store.write() as session:
        claim = claims.take(session, "cpu", worker="w", token=str(number), now=now)
    assert claim is not None
    with store.read() as session:
        found = submissions.get(session, id)
    assert found is not None
    report = verdict(found)
    with store.write() as session:
        assert claims.finish(session, claim, Grading.of(report, _VERSIONS, now))


def _read(ask: Callable[..., object], *arguments: object) -> Callable[[Database, int], object]:
    def question(store: Database, _number: int) -> object:
        with store.read() as session:
            return ask(session, *arguments)

    return question


def _questions(box: Box) -> dict[str, Callable[[Database, int], object]]:
    return {
        "a grading: handed in, graded, verdict stored": partial(_hand_in, verdict=_through(box)),
        "what it asks of the store": partial(_hand_in, verdict=_known),
        **_LOOKS,
    }


_LOOKS: dict[str, Callable[[Database, int], object]] = {
    "the leaderboard of an exercise": _read(standings.leaderboard, INITIAL_CLASS, "exercise 0"),
    "the leaderboard of all": _read(standings.leaderboard, INITIAL_CLASS),
    "a student's work": _read(submissions.attempts, UserId(1)),
    "a student's attempts at an exercise": _read(submissions.attempts, UserId(1), "exercise 3"),
    "a student's best scores": _read(standings.best, UserId(1)),
    "the gradebook": _read(standings.students, INITIAL_CLASS),
    "common mistakes": _read(standings.common_mistakes, INITIAL_CLASS),
}
