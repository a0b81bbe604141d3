"""Grading in other processes: what is told to and fro, and what happens when one of them dies."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from grader.errors import GraderFault, NotAllowed
from grader.exercise.catalog import ROOT
from grader.jobs.live import Watching
from grader.jobs.supervisor import WorkerSupervisor, shared_out
from grader.jobs.tryouts import LONGEST_SOURCE, TryoutRequest
from grader.store.engine import Database
from grader.store.records import State, SubmissionId, Watch
from tests.jobs.classroom import PATIENCE_SECONDS, hand_in, states, until

PROCESS = [sys.executable, "-m", "tests.jobs.grading_process"]


def begin(folder: Path, connection: socket.socket, _place: int) -> subprocess.Popen[bytes]:
    number = connection.fileno()
    return subprocess.Popen([*PROCESS, str(folder), str(number)], pass_fds=[number], cwd=ROOT)


def first_alone(
    folder: Path, others: list[subprocess.Popen[bytes]], connection: socket.socket, place: int
) -> subprocess.Popen[bytes]:
    """Start a first process that grades, and after it others that never get warm, which are added to `others`."""
    if not place:
        return begin(folder, connection, place)
    others.append(subprocess.Popen(["sleep", "600"], pass_fds=[connection.fileno()]))
    return others[-1]


@pytest.fixture
def supervisor(database: Database, tmp_path: Path) -> Iterator[WorkerSupervisor]:
    supervisor = WorkerSupervisor(database, partial(begin, tmp_path), 1)
    assert supervisor.wait().box == "a box"
    supervisor.run({"cpu": 2})
    yield supervisor
    supervisor.drain(5.0)


def hanging(folder: Path) -> Callable[[], bool]:
    return lambda: bool((folder / "hanging").exists() and (folder / "hanging").read_text())


def test_a_watcher_sees_what_another_process_does(
    supervisor: WorkerSupervisor, database: Database, tmp_path: Path
) -> None:
    """The steps cross over; cancelling crosses back, ends the run and frees nobody else's."""
    hand_in(database, supervisor, "s1")
    seen: list[Watch] = []

    async def follow() -> None:
        async for watch in Watching(database, supervisor.live).watch(SubmissionId("s1")):
            seen.append(watch)
            if watch.step:
                supervisor.cancel(SubmissionId("s1"))

    asyncio.run(follow())
    hand_in(database, supervisor, "s2")
    until(lambda: states(database)["s2"] is State.DONE, "the next one is graded")

    assert [watch.step for watch in seen if watch.step][:1] == ["a step"]
    assert seen[-1].state is State.CANCELLED


def test_a_grading_process_that_dies_is_replaced(
    supervisor: WorkerSupervisor, database: Database, tmp_path: Path
) -> None:
    """What it held is graded by its successor, once."""
    first = supervisor._processes[0]
    hand_in(database, supervisor, "s1")
    until(hanging(tmp_path), "the first process hangs")
    assert (supervisor.grades(), first.warm) == (True, True)
    os.kill(int((tmp_path / "hanging").read_text()), signal.SIGKILL)
    until(lambda: states(database)["s1"] is State.DONE, "the second process has graded it")

    assert (supervisor.grades(), first.warm) == (True, False)
    assert supervisor.drain(PATIENCE_SECONDS)
    assert not supervisor.grades()


def test_a_process_that_does_not_start_is_our_fault(database: Database) -> None:
    """Nothing hangs and nothing is left behind when the grading process ends at once."""

    def start(_connection: socket.socket, _place: int) -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, "-c", "pass"])

    with pytest.raises(GraderFault, match="ended before it could grade"):
        WorkerSupervisor(database, start, 1).wait()


def test_the_first_process_grades_before_the_others_are_started(database: Database, tmp_path: Path) -> None:
    """They would take the cores while the first one warms up; and one that never starts stops nobody."""
    started: list[int] = []
    first_has_graded = threading.Event()

    def start(connection: socket.socket, place: int) -> subprocess.Popen[bytes]:
        started.append(place)
        if place and not first_has_graded.is_set():
            return subprocess.Popen([sys.executable, "-c", "pass"])
        return begin(tmp_path, connection, place)

    (tmp_path / "hanging").touch()  # no job hangs
    supervisor = WorkerSupervisor(database, start, 2)
    supervisor.wait()
    assert started == [0]
    supervisor.run({"cpu": 2})
    hand_in(database, supervisor, "s1")
    until(lambda: states(database)["s1"] is State.DONE, "the first process has graded it")
    first_has_graded.set()
    until(lambda: len(supervisor._processes) == 2 and started.count(1) > 1, "the second process is tried again")

    assert supervisor.drain(PATIENCE_SECONDS)


def test_tryouts_cross_over_and_come_back(supervisor: WorkerSupervisor) -> None:
    """Several at once, each with its own answer; a refusal arrives with its reason."""
    asked = [TryoutRequest("softmax", "x = 1", seed=seed, typed={"x": "[1]"}) for seed in range(3)]
    answers = [supervisor.tryouts.try_out(one) for one in asked]
    refused = supervisor.tryouts.try_out(TryoutRequest("softmax", "refuse"))

    assert [one.result(PATIENCE_SECONDS) for one in answers] == [f"softmax {seed} {{'x': '[1]'}}" for seed in range(3)]
    with pytest.raises(NotAllowed, match="no such example"):
        refused.result(PATIENCE_SECONDS)


def test_the_longest_source_fits_into_a_message(supervisor: WorkerSupervisor) -> None:
    """Also one of characters that take the most room."""
    for source in ("#" * LONGEST_SOURCE, '\n"' * (LONGEST_SOURCE // 2), "é" * (LONGEST_SOURCE // 2)):
        answer = supervisor.tryouts.try_out(TryoutRequest("softmax", source))
        assert answer.result(PATIENCE_SECONDS) == "softmax 1 {}"


def test_a_tryout_whose_process_dies_is_our_fault_and_the_next_one_runs(supervisor: WorkerSupervisor) -> None:
    """Whoever waits is told at once; the successor takes what comes then."""
    with pytest.raises(GraderFault, match="ended"):
        supervisor.tryouts.try_out(TryoutRequest("softmax", "die")).result(PATIENCE_SECONDS)

    def runs() -> bool:
        answer = supervisor.tryouts.try_out(TryoutRequest("softmax", "x = 1"))
        return answer.exception(PATIENCE_SECONDS) is None

    until(runs, "the successor takes tryouts")


@pytest.mark.parametrize(
    ("slots", "processes", "shares"),
    [
        ({"cpu": 2}, 1, [{"cpu": 2}]),
        ({"cpu": 5}, 3, [{"cpu": 1}, {"cpu": 2}, {"cpu": 2}]),
        ({"cpu": 3, "cuda": 2}, 2, [{"cpu": 1, "cuda": 2}, {"cpu": 2}]),
    ],
)
def test_slots_are_shared_out(slots: dict[str, int], processes: int, shares: list[dict[str, int]]) -> None:
    """None is lost, the processes get about as many each, and one of them alone has the device."""
    assert shared_out(slots, processes) == shares


def test_nobody_who_hands_in_waits_for_a_process_that_does_not_listen(database: Database) -> None:
    """A grading process that is stopped, or warms up, takes no messages; thousands of rings and cancels are dropped."""
    deaf = [sys.executable, "-c", "import time; time.sleep(600)"]

    def start(connection: socket.socket, _place: int) -> subprocess.Popen[bytes]:
        return subprocess.Popen(deaf, pass_fds=[connection.fileno()])

    supervisor = WorkerSupervisor(database, start, 2)

    def call() -> None:
        for _ in range(2000):
            supervisor.wake("cpu")
            supervisor.interrupt(SubmissionId("s1"))

    caller = threading.Thread(target=call, daemon=True)
    caller.start()
    caller.join(PATIENCE_SECONDS)
    waits = caller.is_alive()
    supervisor._processes[0].end(0.0)

    assert not waits


def test_a_tryout_that_no_process_takes_is_refused_at_once(database: Database) -> None:
    """Messages to a process that does not listen fill up; nobody waits for it."""
    deaf = [sys.executable, "-c", "import time; time.sleep(600)"]

    def start(connection: socket.socket, _place: int) -> subprocess.Popen[bytes]:
        return subprocess.Popen(deaf, pass_fds=[connection.fileno()])

    supervisor = WorkerSupervisor(database, start, 1)
    answers = [supervisor.tryouts.try_out(TryoutRequest("softmax", "#" * LONGEST_SOURCE)) for _ in range(50)]
    supervisor._processes[0].end(0.0)

    assert isinstance(answers[-1].exception(PATIENCE_SECONDS), NotAllowed)


def test_a_stop_does_not_wait_for_a_process_that_still_warms_up(database: Database, tmp_path: Path) -> None:
    """The first one grades already, the second one would take seconds before it hears anything."""
    second: list[subprocess.Popen[bytes]] = []
    supervisor = WorkerSupervisor(database, partial(first_alone, tmp_path, second), 2)
    supervisor.wait()
    supervisor.run({"cpu": 2})
    until(lambda: len(supervisor._processes) == 2, "the second process is on its way")

    assert supervisor.drain(PATIENCE_SECONDS)
    assert second[0].returncode == -signal.SIGUSR1
    assert len(second) == 1, "no other one was started in its place"


def test_a_process_that_does_not_get_warm_in_time_is_ended(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would grade all the same once it is, and be ended at a stop with all that it holds."""
    late: list[subprocess.Popen[bytes]] = []
    supervisor = WorkerSupervisor(database, partial(first_alone, tmp_path, late), 2)
    supervisor.wait()
    monkeypatch.setattr("grader.jobs.supervisor.START_SECONDS", 0.2)
    supervisor.run({"cpu": 2})
    until(lambda: len(late) > 1, "another one is started")

    assert late[0].returncode == -signal.SIGKILL
    assert supervisor.drain(PATIENCE_SECONDS)


def test_a_stop_while_somebody_waits_for_the_first_process_is_told_as_such(database: Database, tmp_path: Path) -> None:
    """The connection is closed under whoever waits."""
    supervisor = WorkerSupervisor(database, partial(first_alone, tmp_path, []), 1)
    supervisor._processes[0].end(0.0)

    with pytest.raises(GraderFault, match="ended before it could grade"):
        supervisor.wait()
