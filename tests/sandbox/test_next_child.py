"""The child that is forked ahead of its run: it serves one run, under that run's limits, and like any other."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path

from grader.box.run import Limits, Run
from grader.sandbox.runner import Sandbox
from grader.sandbox.zygote import Child, Children
from tests.jobs.classroom import until
from tests.sandbox.errand import HONEST, LIMITS, plan, verdict
from tests.sandbox.user_story import children_of, innermost, runs_of

_PATIENT = replace(LIMITS, wall_seconds=20)


def _waiting(sandbox: Sandbox) -> int:
    """Return the child that waits for the next job, once there is one and it waits behind its filter."""
    forking = innermost(sandbox._zygote._process.pid)
    found: list[int] = []

    def waits() -> bool:
        found[:] = children_of(forking)
        return len(found) == 1 and _is_ready(found[0])

    until(waits, "one child waits")
    return found[0]


def _is_ready(pid: int) -> bool:
    try:
        facts = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    except OSError:  # it has ended meanwhile
        return False
    return facts["State"].split()[0] == "S" and facts["Seccomp"].strip() == "2"


def _run(sandbox: Sandbox, limits: Limits = _PATIENT, source: str = HONEST) -> tuple[Run, int]:
    """Return a run, and the process that it ran in."""
    served: list[int] = []
    run = sandbox.run(plan(), source, limits, lambda _: served.extend(runs_of("self")))
    assert verdict(run) == "right"
    return run, served[0]


def test_each_child_that_waits_serves_one_run(sandbox: Sandbox) -> None:
    """Runs are served by the child that was behind its walls before, each by another one."""
    _run(sandbox)
    served = set()
    for _ in range(3):
        before = _waiting(sandbox)
        served.add(child := _run(sandbox)[1])
        assert child == before
    assert len(served) == 3


def test_only_a_run_that_has_ended_has_the_next_child_forked() -> None:
    """Something that kills the one that waits, over and over, would otherwise have it forked over and over."""
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    children = Children(None, None)  # type: ignore[arg-type]  # nothing is forked here
    children._next = Child(pid, os.pidfd_open(pid), ())  # type: ignore[arg-type]

    children.reap(children._next.pidfd)
    children.fork_next()

    assert children.descriptors == ()


def test_whoever_is_told_of_a_run_need_not_wait_for_the_end_of_its_child(sandbox: Sandbox) -> None:
    """It is killed once its answer is whole; what it used and printed is known by then."""
    run, _ = _run(sandbox, source=f"print('all of it')\nhoard = bytearray(32 << 20)\n{HONEST}")
    assert run.output == "all of it\n"
    assert 0 < run.cpu_seconds < 5
    assert 32 << 20 < run.grown_bytes < 64 << 20
    _waiting(sandbox)  # alone: the other one is gone, though nobody waits for it


def test_a_run_with_other_limits_gets_a_child_of_its_own(sandbox: Sandbox) -> None:
    """Nobody runs under the limits of the one before, neither more nor less."""
    _run(sandbox)
    before = _waiting(sandbox)
    _, child = _run(sandbox, replace(_PATIENT, memory_bytes=256 << 20))
    assert child != before
    hoard = "print(len(bytearray(160 << 20)))"
    assert sandbox.run(plan(), hoard, replace(_PATIENT, memory_bytes=256 << 20)).output == f"{160 << 20}\n"
    _waiting(sandbox)
    assert verdict(sandbox.run(plan(), hoard, _PATIENT)) == "error MemoryError"


def test_a_child_that_was_killed_while_it_waited_costs_nobody_anything(sandbox: Sandbox) -> None:
    """Whatever ends it, at whatever moment, the next run is right, and another child waits after that."""
    _run(sandbox)
    os.kill(_waiting(sandbox), signal.SIGKILL)
    assert verdict(sandbox.run(plan(), HONEST, _PATIENT)) == "right"
    _waiting(sandbox)


def test_a_child_that_waits_dies_with_its_zygote(own: Sandbox) -> None:
    """It outlives neither a zygote that is closed, nor one that is killed."""
    _run(own)
    before = _waiting(own)
    killed = own._zygote
    os.kill(killed._process.pid, signal.SIGKILL)
    while own._zygote is killed:  # one that waits may serve a run before the death of its zygote is noticed
        assert verdict(own.run(plan(), HONEST, _PATIENT)) == "right"
    after = _waiting(own)
    own.close()
    until(lambda: not any(Path(f"/proc/{child}").exists() for child in (before, after)), "they are gone")
