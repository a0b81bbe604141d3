"""The process that is warm with torch and forks a locked-in child for each run.

It is started by exec in an environment of its own, holds no secret, has one thread, and never reads a job. Its control
socket carries one order a run, `{"cpu": …, "memory": …}`, with one descriptor: the report socket. On that it answers
`{"pid": …}` with five descriptors: the child's pidfd, the memory for its job, its answer, its prints, and its line. At
the end comes `{"status": …, "cpu": …, "resident": …}`. On its line the child says `{"up": …, "spent": …}`, its resident
set and its processor time, once its walls are up; it then waits for one word, reads its job, and hears nothing more.
Sizes are in bytes, times in seconds.
Where there can be no child, the only answer is `{"refused": …}`, the reason; the zygote and its other children live on.
The end of the control socket is the end of the zygote, and with it of every child.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import signal
import socket
from collections.abc import Iterable
from typing import NoReturn

from grader.sandbox.child import Child, ChildLimits, fork_child, send
from grader.sandbox.lockdown import Walls, prepare
from grader.sandbox.memory import ZYGOTE_RANK, Ranks, stand_at
from grader.sandbox.walls import namespaces
from grader.sandbox.zygote_memory import fold, huge_pieces

MESSAGE_BYTES = 4096
_QUIET = 100  # milliseconds without a run before a child is made ready; runs in a row would only be slowed down by it
_SIZE = 2  # of the pool; as many as a grading process has slots at most


def main(control_descriptor: int, group_descriptor: int = -1, *, brief: bool = False) -> NoReturn:
    """Warm up, say so, and serve until the control socket ends; first of all join the group, if there is one."""
    if group_descriptor >= 0:
        os.write(group_descriptor, b"0")  # whoever writes it
        os.close(group_descriptor)
    control = socket.socket(fileno=control_descriptor)
    stand_at(ZYGOTE_RANK)
    namespaced = namespaces.enter()
    rooted = namespaced and namespaces.can_leave_files()
    ranks = Ranks()  # of the process that forks, while there are files
    # After the namespaces, which want a small process; before the walls, since a child cannot open a file.
    gc.disable()  # nothing that is imported is ever garbage, and looking for some takes a third of the time
    from grader.sandbox.warmup import warm_up

    warm_up(brief=brief)
    unfolded = huge_pieces()
    threads = len(os.listdir("/proc/self/task"))
    walls = prepare(namespaced=namespaced, rooted=rooted)  # in tier A there are no files after this line
    gc.freeze()
    gc.enable()
    send(control, {"tier": walls.tier, "threads": threads})
    _serve(control, PreforkPool(walls, ranks), unfolded)
    os._exit(0)


def _serve(control: socket.socket, pool: PreforkPool, unfolded: list[tuple[int, int]]) -> None:
    while True:
        if pool.is_busy or not (unfolded or pool.has_room):
            patience = None
        else:
            patience = 0 if unfolded else _QUIET
        ready = _readable((control.fileno(), *pool.descriptors), patience)
        served = [pool.reap(pidfd) for pidfd in ready - {control.fileno()}]
        if control.fileno() in ready and not _take_order(control, pool):
            return
        if any(served) and not unfolded:
            pool.fork_next()
        elif not ready and unfolded:  # before any child is ready: what is folded is no longer shared with children
            fold(*unfolded.pop())
        elif not ready:
            pool.fork_ahead()


def _take_order(control: socket.socket, pool: PreforkPool) -> bool:
    """Take an order for a run; return False where the control socket has ended."""
    message, descriptors, _, _ = socket.recv_fds(control, MESSAGE_BYTES, 1)
    for descriptor in descriptors:  # none where this process had no room for it; the runner sees its line end
        pool.assign(socket.socket(fileno=descriptor), ChildLimits(**json.loads(message)))
    return bool(message)


def _readable(descriptors: Iterable[int], patience: int | None) -> set[int]:
    """Return which descriptors have something to say; wait so many milliseconds for one, None: as long as it takes."""
    poller = select.poll()
    for descriptor in descriptors:
        poller.register(descriptor, select.POLLIN)
    return {descriptor for descriptor, _ in poller.poll(patience)}


class PreforkPool:
    """Forks children, hands them to their runners, and reaps them; keeps a small pool of those that were forked ahead.

    A child in the pool is locked in and has run a job of our own, so that the memory pages to which every run writes
    are its own already: its job then starts at once, and without two thousand page faults. Like any child it serves one
    run. The pool is for the limits that the last run had. It is filled after a moment without runs, so that it takes no
    processor time from any. Where runs follow each other, a child for the next is forked as soon as one has ended: it
    would have to be forked anyway, and so its walls go up while the last run is judged. It has not rehearsed, and is
    replaced by children that have.
    """

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
            with contextlib.suppress(OSError):
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
