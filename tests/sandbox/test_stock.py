"""Children that are ready before their job is known: they are used once, and a run in one is like any other."""

from __future__ import annotations

import os
import signal
import threading
import time
from dataclasses import replace
from pathlib import Path

from grader.box.run import Ending, Limits
from grader.sandbox.child import Child
from grader.sandbox.runner import Sandbox
from grader.sandbox.zygote import PreforkPool
from tests.jobs.classroom import until
from tests.machine import MINOR_FAULTS, SYSTEM_TICKS, USER_TICKS, stat_of
from tests.sandbox.errand import HONEST, LIMITS, plan, verdict
from tests.sandbox.user_story import children_of, innermost, wait_for_run

_STOCK = 2
_REHEARSED = 1500  # page faults; a child that has run nothing has half as many
_NAPPER = f"import time\ntime.sleep(0.2)\n{HONEST}"
_PATIENT = replace(LIMITS, wall_seconds=20)

# What a rehearsal could have left behind for the student's code to see.
_TRACES = """
import gc, linecache, os, sys, warnings
import numpy, torch

print(torch.initial_seed(), hash(torch.get_rng_state().numpy().tobytes()), hash(numpy.random.get_state()[1].tobytes()))
print(torch.get_default_dtype(), torch.is_grad_enabled(), torch.is_anomaly_enabled(), torch.get_num_threads())
print(sorted(sys.modules), sorted(linecache.cache), warnings.filters, gc.isenabled(), gc.get_threshold())
print([kind.__name__ for kind in torch.nn.Module.__subclasses__() if kind.__module__ == "submission"])
print([name for name in ("Layer", "function") if any(name == getattr(x, "__name__", "") and
      getattr(x, "__module__", "") == "submission" for x in gc.get_objects())])
print([number for number in range(24) if number not in (1, 2, 4) and opened(number)])
"""
# Left out is what the prints and the result need: no allowed call asks whether a descriptor is open, so it is closed.
_OPENED = """
import os

def opened(number):
    try:
        os.close(number)
    except OSError:
        return False
    return True
"""


def _stock(sandbox: Sandbox) -> list[int]:
    """Return the children that wait for a job, once there are as many as there should be and all of them wait."""
    forking = innermost(sandbox._zygote._process.pid)
    found: list[int] = []

    def all_wait() -> bool:
        found[:] = children_of(forking)
        return len(found) == _STOCK and all(_waits(child) for child in found)

    until(all_wait, f"{_STOCK} children wait")
    return found


def _waits(pid: int) -> bool:
    """Return whether a child sleeps behind its filter."""
    try:
        facts = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    except OSError:  # it has ended meanwhile
        return False
    return facts["State"].split()[0] == "S" and facts["Seccomp"].strip() == "2"


def _served_by(sandbox: Sandbox, limits: Limits = _PATIENT) -> int:
    """Return the process that a right answer ran in."""
    verdicts: list[str] = []
    running = threading.Thread(target=lambda: verdicts.append(verdict(sandbox.run(plan(), _NAPPER, limits))))
    running.start()
    child = wait_for_run()
    running.join()
    assert verdicts == ["right"]
    return child


def test_each_child_in_stock_serves_one_run(sandbox: Sandbox) -> None:
    """Runs are served by children that were behind their walls before, each by another one."""
    sandbox.run(plan(), HONEST, _PATIENT)
    served = set()
    for _ in range(2 * _STOCK):
        before = _stock(sandbox)
        served.add(child := _served_by(sandbox))
        assert child in before
    assert len(served) == 2 * _STOCK


def test_the_next_child_is_forked_as_soon_as_a_run_has_ended(own: Sandbox) -> None:
    """Its walls go up while the last run is judged. It has not rehearsed, and is replaced by those that have."""
    own.run(plan(), HONEST, _PATIENT)
    _stock(own)  # so much for what is done once, after a start
    forking = innermost(own._zygote._process.pid)
    rehearsed = [faults(child) for child in children_of(forking)]
    fresh: list[int] = []

    def seen() -> bool:
        for _ in range(_STOCK):  # at once, so that no other one rehearses, unless this machine is very busy
            own.run(plan(), HONEST, _PATIENT)
        time.sleep(0.02)
        fresh[:] = [child for child in filter(_waits, children_of(forking)) if faults(child) < _REHEARSED]
        return bool(fresh)

    until(seen, "a child waits that has not rehearsed")
    assert min(rehearsed) > _REHEARSED
    assert fresh[0] not in _stock(own)


def test_only_a_run_that_has_ended_has_the_next_child_forked() -> None:
    """Something that kills those that wait, over and over, would otherwise have them forked over and over."""
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    waiting = Child(pid, os.pidfd_open(pid), (), rehearsed=True)  # type: ignore[arg-type]
    pool = PreforkPool(None, None)  # type: ignore[arg-type]  # nothing is forked here
    pool._idle[waiting.pidfd] = waiting

    assert not pool.reap(waiting.pidfd)
    assert pool.descriptors == ()


def faults(child: int) -> int:
    """Return how many page faults a process has had."""
    return int(stat_of(child)[MINOR_FAULTS])


def test_whoever_is_told_of_a_run_need_not_wait_for_the_end_of_its_child(sandbox: Sandbox) -> None:
    """It is killed once its answer is whole; what it used and printed is known by then."""
    run = sandbox.run(plan(), f"print('all of it')\nhoard = bytearray(32 << 20)\n{HONEST}", _PATIENT)
    assert (verdict(run), run.output) == ("right", "all of it\n")
    assert 0 < run.cpu_seconds < 5
    assert 32 << 20 < run.grown_bytes < 64 << 20
    forking = innermost(sandbox._zygote._process.pid)
    until(lambda: all(_waits(child) for child in children_of(forking)), "it is killed, though nobody waits for it")


def test_nothing_shows_that_a_child_was_in_stock(own: Sandbox) -> None:
    """Random state, modules, settings, descriptors and leftovers are as in a child that was forked for its run."""
    source = f"{_OPENED}{_TRACES}{HONEST}"
    forked = own.run(plan(), source, _PATIENT)
    _stock(own)
    stocked = own.run(plan(), source, _PATIENT)
    assert (verdict(forked), verdict(stocked)) == ("right", "right"), forked.observations
    assert forked.output.endswith("\n[0]\n")  # the job is closed before the submission is loaded
    assert stocked.output == forked.output


def test_a_run_with_other_limits_gets_a_child_of_its_own(sandbox: Sandbox) -> None:
    """Nobody runs under the limits of the one before, neither more nor less."""
    sandbox.run(plan(), HONEST, _PATIENT)
    before = _stock(sandbox)
    assert _served_by(sandbox, replace(_PATIENT, memory_bytes=256 << 20)) not in before
    hoard = "print(len(bytearray(160 << 20)))"
    assert sandbox.run(plan(), hoard, replace(_PATIENT, memory_bytes=256 << 20)).output == f"{160 << 20}\n"
    _stock(sandbox)
    run = sandbox.run(plan(), hoard, _PATIENT)
    assert verdict(run) == "error MemoryError"


def test_a_stock_that_was_killed_costs_nobody_anything(sandbox: Sandbox) -> None:
    """Whatever ends a waiting child, at whatever moment, the next run is right, and ready children come back."""
    sandbox.run(plan(), HONEST, _PATIENT)
    for child in _stock(sandbox):
        os.kill(child, signal.SIGKILL)
    assert verdict(sandbox.run(plan(), HONEST, _PATIENT)) == "right"
    _stock(sandbox)


def test_a_stock_dies_with_its_zygote(own: Sandbox) -> None:
    """No waiting child outlives a zygote that is closed, or one that is killed."""
    own.run(plan(), HONEST, _PATIENT)
    before = _stock(own)
    killed = own._zygote
    os.kill(killed._process.pid, signal.SIGKILL)
    while own._zygote is killed:  # a child that is ready may serve a run before the death of its zygote is noticed
        assert verdict(own.run(plan(), HONEST, _PATIENT)) == "right"
    after = _stock(own)
    own.close()
    until(lambda: not any(Path(f"/proc/{child}").exists() for child in (*before, *after)), "they are gone")


def test_getting_ready_is_not_counted_as_the_students(sandbox: Sandbox) -> None:
    """A run that computes nothing has used less processor time than its child, which rehearsed before."""
    sandbox.run(plan(), HONEST, _PATIENT)
    child = _stock(sandbox)[-1]
    ticks = sum(map(int, stat_of(child)[USER_TICKS : SYSTEM_TICKS + 1]))
    run = sandbox.run(plan(), "import os\nos._exit(0)", _PATIENT)
    assert run.ending is Ending.CRASHED
    assert run.cpu_seconds < 0.05 + ticks / os.sysconf("SC_CLK_TCK")
