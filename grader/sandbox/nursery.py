"""The children of a zygote: those that run, and a small stock of those that are ready for a job to come.

A child in stock has been forked, has its walls up, and has run a job of ours, so that the pages to which every run
writes are its own already: its job then starts at once, and without two thousand page faults. Like any child it serves
one run. The stock is for the allowance that the last run had. It is made after a moment without runs, so that it takes
no processor time from any, and a run for which there is none gets a child that is forked for it.
"""

from __future__ import annotations

import os
import signal
import socket

from grader.sandbox.lockdown.oom import Ranks
from grader.sandbox.lockdown.walls import Walls
from grader.sandbox.newborn import Allowance, Newborn, bear, send

_STOCK = 2  # as many as a grading process has slots


class Nursery:
    """Has children, gives them to their runners, and buries them."""

    def __init__(self, walls: Walls, ranks: Ranks) -> None:
        self._walls, self._ranks = walls, ranks
        self._ready: dict[int, Newborn] = {}  # by process descriptor, as below
        self._running: dict[int, tuple[Newborn, socket.socket]] = {}
        self._usual = Allowance(cpu=0, memory=0)  # nobody's yet
        self._missing = 0

    @property
    def descriptors(self) -> tuple[int, ...]:
        """The process descriptors of all children; one that can be read has ended."""
        return (*self._running, *self._ready)

    @property
    def busy(self) -> bool:
        """Whether a run is under way."""
        return bool(self._running)

    @property
    def short(self) -> bool:
        """Whether another child should be made ready."""
        return self._missing > 0

    def give(self, report: socket.socket, allowance: Allowance) -> None:
        """Give a child to the runner at the other end of `report`, or say there why there can be none."""
        if allowance != self._usual:
            self._usual = allowance
            self._clear()
        try:
            child = self._ready.popitem()[1] if self._ready else self._bear(allowance, rehearsed=False)
        except OSError as error:
            send(report, {"refused": str(error)})
            report.close()
            return
        send(report, {"pid": child.pid}, child.pidfd, *child.ends)
        child.let_go()
        self._running[child.pidfd] = (child, report)

    def make_ready(self) -> None:
        """Have one more child ready; where there can be none, try no more until another run is over."""
        self._missing -= 1
        try:
            child = self._bear(self._usual, rehearsed=True)
        except OSError:
            self._missing = 0
            return
        self._ready[child.pidfd] = child

    def bury(self, pidfd: int) -> None:
        """Take leave of a child that has ended; tell its runner, if it had one, what the kernel says of it."""
        if pidfd in self._ready:
            child = self._ready.pop(pidfd)
            child.let_go()
            child.wait()
            return
        child, report = self._running.pop(pidfd)
        send(report, child.wait())
        report.close()
        self._missing = _STOCK - len(self._ready)

    def _bear(self, allowance: Allowance, *, rehearsed: bool) -> Newborn:
        with self._ranks.forking():
            return bear(self._walls, allowance, rehearsed=rehearsed)

    def _clear(self) -> None:
        for pidfd, child in list(self._ready.items()):
            os.kill(child.pid, signal.SIGKILL)
            self.bury(pidfd)
