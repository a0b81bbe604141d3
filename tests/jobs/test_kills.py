"""Who kills the process that grades them does so twice at most, and their neighbours are not taken for them."""

from __future__ import annotations

import multiprocessing
import threading
from multiprocessing.context import ForkServerContext
from pathlib import Path

import pytest

from grader.jobs.engine import EmbeddedEngine
from grader.judge.report import Status
from grader.store import submissions
from grader.store.engine import Database
from grader.store.records import State, SubmissionId
from tests.jobs.classroom import full_marks, hand_in, states, until
from tests.jobs.deadly import NOTES, work

_HONEST = [f"honest {n}" for n in range(8)]
_KILLERS = ["killer 0", "killer 1", "killer 2"]


@pytest.fixture(scope="module")
def processes() -> ForkServerContext:
    """Give a server that has the worker imported and forks a fresh process in a moment."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.jobs.deadly"])
    first = context.Process(target=print)  # ends once everything is imported, however long that takes
    first.start()
    first.join()
    return context


@pytest.fixture
def notes(tmp_path: Path, database: Database, processes: ForkServerContext) -> list[list[str]]:
    """Give the notes of two grading processes that were replaced whenever they died, up to the last verdict."""
    helper = EmbeddedEngine(database, full_marks, workers=tmp_path / "workers")
    for n, id in enumerate([*_HONEST[:2], *_KILLERS, *_HONEST[2:]]):
        hand_in(database, helper, id, priority=n)
    receiving, stop = processes.Pipe(duplex=False)
    over = threading.Event()

    def replace() -> None:
        while not over.is_set():
            process = processes.Process(target=work, args=(tmp_path, receiving))
            process.start()
            process.join()

    keepers = [threading.Thread(target=replace) for _ in range(2)]
    for keeper in keepers:
        keeper.start()
    try:
        until(lambda: not {State.QUEUED, State.RUNNING} & set(states(database).values()), "everybody has a verdict")
    finally:
        over.set()
        stop.close()
        for keeper in keepers:
            keeper.join()
    return [line.split(" ", 2) for line in (tmp_path / NOTES).read_text().splitlines()]


def test_two_kills_are_a_verdict_and_neighbours_are_graded(notes: list[list[str]], database: Database) -> None:
    """Three killers, two processes with two slots each: what they are told for they did alone; others are graded."""
    with database.read() as session:
        found = {id: submissions.get(session, SubmissionId(id)) for id in (*_HONEST, *_KILLERS)}
    told = {id: one.report.status for id, one in found.items() if one is not None and one.report is not None}

    assert told == {**dict.fromkeys(_HONEST, Status.GRADED), **dict.fromkeys(_KILLERS, Status.MEMORY)}
    for killer in _KILLERS:  # whose first process may have been killed by a neighbour before
        did = [what for _, what, id in notes if id == killer]
        assert (did[-2:], did.count("killed") <= 2) == (["alone", "killed"], True)
    _expect_seconds_alone(notes)


def _expect_seconds_alone(notes: list[list[str]]) -> None:
    """Fail if anything ran beside a job that was graded alone, or one that had been killed was not."""
    running: set[tuple[str, str]] = set()
    killed: set[str] = set()
    for process, what, id in notes:
        if what == "alone":
            assert running == set(), (process, id)
        if what in ("alone", "together"):
            assert what == "alone" or id not in killed, id
            running.add((process, id))
        if what == "killed":  # and with it whatever the process was at
            killed |= {other for where, other in running if where == process}
            running = {one for one in running if one[0] != process}
        if what == "ended":
            running.discard((process, id))
