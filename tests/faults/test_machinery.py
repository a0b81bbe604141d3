"""What the service stands on is taken away while it grades: never the student's fault, and all is well afterwards."""

from __future__ import annotations

import os
import resource
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.faults.conftest import RIGHT, Victim, slow
from tests.sandbox.user_story import end_next, innermost


def test_a_zygote_that_dies_under_a_run_is_replaced(victim: Victim) -> None:
    """The run is repeated, and nothing is put down to the student."""
    before = set(victim.zygotes())
    id = victim.submit(slow(0.5))
    victim.runs()
    victim.kill_zygotes()
    state, report = victim.end(id)
    victim.expect_right()

    assert (state, report.score, report.incident) == ("done", 100.0, ""), (report.status, report.reason)
    assert not before & set(victim.zygotes())


def test_zygotes_that_die_again_and_again_are_our_fault(victim: Victim) -> None:
    """After all tries the submission is broken, with an incident and no attempt used; the next finds a new zygote."""
    over = threading.Event()

    def kill() -> None:
        while not over.wait(0.01):
            victim.kill_zygotes()

    id = victim.submit(slow(0.5))  # a quick one may be over before this process has its turn
    killer = threading.Thread(target=kill)
    killer.start()
    try:
        victim.expect_apology(id)
    finally:
        over.set()
        killer.join()


def test_a_child_that_cannot_be_forked_is_our_fault(victim: Victim) -> None:
    """With no process left to be had: tried again, then an apology; the zygote lives on, and grades afterwards."""
    zygote = innermost(victim.zygotes()[0])
    with no_process_left(zygote):
        end_next(zygote)
        victim.expect_apology(victim.submit())
    assert "NotStarted" in victim.ask("logged")
    victim.expect_right()

    assert innermost(victim.zygotes()[0]) == zygote


def test_a_process_without_descriptors_apologises(victim: Victim) -> None:
    """What could not be opened is never the student's; once there is room, the same student is graded."""
    victim.ask("take_descriptors")
    answer = victim.submit()
    if isinstance(answer, str):
        victim.expect_apology(answer)
    victim.ask("give_back")
    _, report = victim.end(victim.submit())

    assert report.score == 100.0


def test_a_process_without_memory_apologises(victim: Victim) -> None:
    """What could not be held is never the student's; once there is memory, the same student is graded."""
    id = victim.submit(slow(0.3) + "#" * 200_000)
    victim.runs()
    with no_memory_left(victim.pid):
        victim.rests()
    state, report = victim.end(id)

    assert state in ("done", "broken")
    assert report.score == 100.0 if state == "done" else report.incident
    _, again = victim.end(victim.submit(RIGHT))
    assert again.score == 100.0


@contextmanager
def no_memory_left(pid: int) -> Iterator[None]:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[0])
    before = resource.prlimit(pid, resource.RLIMIT_AS)
    resource.prlimit(pid, resource.RLIMIT_AS, (pages * resource.getpagesize(), before[1]))
    yield
    resource.prlimit(pid, resource.RLIMIT_AS, before)


@contextmanager
def no_process_left(pid: int) -> Iterator[None]:
    """Let the kernel refuse every fork of that process; root's it counts in control groups only."""
    if os.getuid():
        before = resource.prlimit(pid, resource.RLIMIT_NPROC)
        resource.prlimit(pid, resource.RLIMIT_NPROC, (0, before[1]))
        yield
        resource.prlimit(pid, resource.RLIMIT_NPROC, before)
        return
    lines = Path(f"/proc/{pid}/cgroup").read_text().splitlines()
    here = next((line.split(":")[2] for line in lines if ":pids:" in line), "")
    group = Path(f"/sys/fs/cgroup/pids{here}") / f"faults-{pid}"
    try:
        group.mkdir()
    except OSError:
        pytest.skip("this system grants root no control group to count processes in")
    try:
        (group / "pids.max").write_text("1")
        (group / "cgroup.procs").write_text(str(pid))
        yield
    finally:
        (group.parent / "cgroup.procs").write_text(str(pid))
        group.rmdir()
