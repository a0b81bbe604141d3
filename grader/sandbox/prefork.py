"""The children of a zygote: those that run a job, and a small pool of those that were forked ahead.

A child in the pool has been forked, is locked in, and has run a job of our own, so that the memory pages to which every
run writes are its own already: its job then starts at once, and without two thousand page faults. Like any child it
serves one run. The pool is for the limits that the last run had. It is filled after a moment without runs, so that it
takes no processor time from any. Where runs follow each other, a child for the next is forked as soon as one has ended:
it would have to be forked anyway, and so its walls go up while the last run is judged. It has not rehearsed, and is
replaced by children that have.
"""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Iterable
from contextlib import suppress

from grader.sandbox.child import Child, ChildLimits, fork_child, send
from grader.sandbox.lockdown.oom import Ranks
from grader.sandbox.lockdown.walls import Walls

_SIZE = 2  # as many as a grading process has slots at most


class PreforkPool:
    """Forks children, hands them to their runners, and reaps them."""

    def __init__(self, walls: Walls, ranks: Ranks) -> None:
        self._walls, self._ranks = walls, ranks
        self._idle: dict[int, Child] = {}  # all rehearsed, or one that has not; by process descriptor, as below
        self._running: dict[int, tuple[Child, socket.socket]] = {}
        self._limits = ChildLimits(cpu=0, memory=0)  # nobody's yet
        self._missing = 0

    @property
    def descriptors(self) -> tuple[int, ...]:
        """The process descriptors of all children; one that can be read has ended."""
        return (*self._running, *self._idle)

    @property
    def is_busy(self) -> bool:
        """Whether a run is under way."""
        return bool(self._running)

    @property
    def has_room(self) -> bool:
        """Whether another child should be forked ahead."""
        return self._missing > 0

    def assign(self, report: socket.socket, limits: ChildLimits) -> None:
        """Hand a child to the runner at the other end of `report`, or say there why there can be none."""
        if limits != self._limits:
            self._limits = limits
            self._end(self._idle.values())
        try:
            child = self._idle.popitem()[1] if self._idle else self._fork(limits, rehearsed=False)
        except OSError as error:
            send(report, {"refused": str(error)})
            report.close()
            return
        send(report, {"pid": child.pid}, child.pidfd, *child.ends)
        child.close()
        self._running[child.pidfd] = (child, report)

    def fork_ahead(self) -> None:
        """Fork one more child for the pool; where there can be none, try no more until another run is over."""
        self._missing -= 1
        self._end(child for child in self._idle.values() if not child.rehearsed)
        try:
            child = self._fork(self._limits, rehearsed=True)
        except OSError:
            self._missing = 0
            return
        self._idle[child.pidfd] = child

    def fork_next(self) -> None:
        """Fork the next run's child, unless there is one; where there can be none, that run will be told."""
        if not self._idle:
            with suppress(OSError):
                child = self._fork(self._limits, rehearsed=False)
                self._idle[child.pidfd] = child

    def reap(self, pidfd: int) -> bool:
        """Reap a child that has ended; tell its runner what the kernel says of it, and return whether it had one."""
        if pidfd in self._idle:
            child = self._idle.pop(pidfd)
            child.close()
            child.wait()
            return False
        child, report = self._running.pop(pidfd)
        send(report, child.wait())
        report.close()
        self._missing = _SIZE - sum(child.rehearsed for child in self._idle.values())
        return True

    def _fork(self, limits: ChildLimits, *, rehearsed: bool) -> Child:
        with self._ranks.forking():
            return fork_child(self._walls, limits, rehearsed=rehearsed)

    def _end(self, waiting: Iterable[Child]) -> None:
        for child in list(waiting):
            os.kill(child.pid, signal.SIGKILL)
            self.reap(child.pidfd)
