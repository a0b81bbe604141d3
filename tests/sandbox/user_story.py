"""What the sandbox is worth where this runs; a program, started by test_elsewhere, that prints JSON.

Usage: `user_story.py [one-wall]`, which accepts tier C.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from grader.errors import GraderFault
from grader.sandbox.choice import choose_box
from grader.sandbox.memory import CHILD_RANK
from grader.sandbox.runner import Sandbox
from tests.sandbox.errand import HONEST, LIMITS, plan, verdict


def main() -> None:
    """Run an honest submission, and tell of the box around it."""
    sandbox = choose_box(allow_plain=False, allow_one_wall="one-wall" in sys.argv)
    assert isinstance(sandbox, Sandbox)
    with sandbox:
        story = {
            "user": os.getuid(),
            "tier": sandbox.tier,
            "box": sandbox.name,
            "honest": verdict(sandbox.run(plan(), HONEST, LIMITS)),
            "ranks": ranks(sandbox),
        }
        if os.getuid() != 0:  # nobody counts root's processes
            story |= _without_room(sandbox)
    print(json.dumps(story))


def _without_room(sandbox: Sandbox) -> dict[str, object]:
    """Tell what became of two runs for which the kernel gave the zygote no process, and of one afterwards."""
    zygote = sandbox._zygote
    forking = innermost(zygote._process.pid)
    before = resource.prlimit(forking, resource.RLIMIT_NPROC)
    resource.prlimit(forking, resource.RLIMIT_NPROC, (0, before[1]))
    end_next(forking)
    faults = []
    for _ in range(2):
        try:
            faults.append(str(sandbox.run(plan(), HONEST, LIMITS)))
        except GraderFault as fault:
            faults.append(f"{type(fault).__name__}: {fault}")
    resource.prlimit(forking, resource.RLIMIT_NPROC, before)
    after = verdict(sandbox.run(plan(), HONEST, LIMITS))
    return {"refused": faults, "room again": after, "same zygote": sandbox._zygote is zygote}


def ranks(sandbox: Sandbox) -> list[int]:
    """Return how soon the kernel would end the process that forks children, and each of them, out of 1000."""
    forking = innermost(sandbox._zygote._process.pid)
    children = await_next(forking)
    deadline = time.monotonic() + 20
    while (own := rank(forking)) == CHILD_RANK and time.monotonic() < deadline:
        time.sleep(0.005)  # it has that rank itself for as long as a fork takes
    return [own, *{rank(child) for child in children}]


def rank(pid: int) -> int:
    """Return the rank that a process has when memory runs out."""
    return int(Path(f"/proc/{pid}/oom_score_adj").read_text())


def await_next(forking: int) -> list[int]:
    """Wait until a child waits for the next job; return all children."""
    deadline = time.monotonic() + 20
    while not (found := children_of(forking)) and time.monotonic() < deadline:
        time.sleep(0.005)
    return found


def innermost(pid: int) -> int:
    """Return the process that forks the children, given the one that was started: itself, or the first of its world."""
    inner = [child for child in children_of(pid) if _worlds(child) > _worlds(pid)]
    return inner[0] if inner else pid


def children_of(pid: int) -> list[int]:
    """Return the children of a process; for a zygote those that run, and those that wait for a job."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def wait_for_run() -> int:
    """Wait until this process has a run under way; return its child."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        for child in runs_of("self"):
            return child
    raise AssertionError("no child appeared")


def runs_of(process: int | str) -> Iterator[int]:
    """Yield the children in which a process has something run, by the descriptors that it holds of them."""
    for facts in Path(f"/proc/{process}/fdinfo").iterdir():
        with contextlib.suppress(OSError):  # closed meanwhile
            found = [int(line.split()[1]) for line in facts.read_text().splitlines() if line.startswith("Pid:")]
            yield from (pid for pid in found if pid > 0)  # -1: it is dead


def end_next(forking: int) -> None:
    """End the child that waits for a job, of a zygote that can fork no other.

    One that was being forked when this became so appears later.
    """
    seen = time.monotonic()
    while (now := time.monotonic()) < seen + 0.2:
        for child in children_of(forking):
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
            seen = now
        time.sleep(0.001)


def _worlds(pid: int) -> int:
    """Return how many process namespaces a process has a number in."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(len(line.split()) for line in lines if line.startswith("NSpid:"))


if __name__ == "__main__":
    main()
