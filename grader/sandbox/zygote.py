"""The process that is warm with torch and forks a locked-in child for each run; and the child, from fork to exit.

It is started by exec in an environment of its own, holds no secret, has one thread, and never reads a job. Once it is
warm it says `{"tier": …, "threads": …}` on its control socket. From then on that carries one order a run,
`{"cpu": …, "memory": …}`, with one descriptor: the report socket. On that the zygote answers `{"pid": …}` with five
descriptors: the child's pidfd, the memory for its job, its answer, its prints, and its line. At the end comes
`{"status": …, "cpu": …, "resident": …}`. Sizes are in bytes, times in seconds.

On its line the child says `{"up": …, "spent": …}`, its resident set and its processor time, once its walls are up, or
`{"missing": …}` where the limits of the run cannot be set. It then waits for one byte, reads its job, and hears nothing
more. Where there can be no child, the only answer is `{"refused": …}`, the reason; the zygote and its other children
live on. The end of the control socket is the end of the zygote, and with it of every child.

Whatever a child will ever need is opened before the fork, so that it can wait, locked in, for a job that does not exist
yet, and needs no system call to take it but a read.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import signal
import socket
import time
import traceback
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NoReturn

from grader.sandbox.lockdown import Openings, Walls, prepare, put_up
from grader.sandbox.memory import ZYGOTE_RANK, Ranks, stand_at
from grader.sandbox.walls import namespaces, rlimits
from grader.sandbox.walls.descriptors import JOB, LINE, RESULT
from grader.sandbox.zygote_memory import fold, huge_pieces

MESSAGE_BYTES = 4096
_KILLED_SECONDS = 5.0  # at most; whoever has read the whole answer kills the child
# Kept here: a submission may put something else into `os` and `time`, and a fork must never return.
_end, _sleep = os._exit, time.sleep


def main(control_descriptor: int, group_descriptor: int = -1) -> NoReturn:
    """Join the control group, if there is one; warm up, say so, and serve until the control socket ends."""
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

    warm_up()
    unfolded = huge_pieces()
    threads = len(os.listdir("/proc/self/task"))
    walls = prepare(namespaced=namespaced, rooted=rooted)  # in tier A there are no files after this line
    gc.freeze()
    gc.enable()
    send(control, {"tier": walls.tier, "threads": threads})
    _serve(control, Children(walls, ranks), unfolded)
    os._exit(0)


def _serve(control: socket.socket, children: Children, unfolded: list[tuple[int, int]]) -> None:
    while True:
        poller = select.poll()
        for descriptor in (control.fileno(), *children.descriptors):
            poller.register(descriptor, select.POLLIN)
        ready = {descriptor for descriptor, _ in poller.poll(0 if unfolded and not children.is_busy else None)}
        for pidfd in ready - {control.fileno()}:
            children.reap(pidfd)
        if control.fileno() in ready:
            message, descriptors, _, _ = socket.recv_fds(control, MESSAGE_BYTES, 1)
            if not message:
                return
            for descriptor in descriptors:  # none where this process had no room for it; the runner sees its line end
                children.assign(socket.socket(fileno=descriptor), ChildLimits(**json.loads(message)))
        if not ready:
            fold(*unfolded.pop())
        if not unfolded:  # what is folded after a fork is no longer shared with that child
            children.fork_next()


class Children:
    """Forks children, hands them to their runners, and reaps them.

    The next run's child is forked as soon as one has ended, for the same limits: it would have to be forked anyway, and
    so its walls go up while the last run is judged. Like any child it serves one run.
    """

    def __init__(self, walls: Walls, ranks: Ranks) -> None:
        self._walls, self._ranks = walls, ranks
        self._running: dict[int, tuple[Child, socket.socket]] = {}  # by process descriptor
        self._next: Child | None = None
        self._limits = ChildLimits(cpu=0, memory=0)  # nobody's yet
        self._is_due = False  # a run has ended; what kills a child that waits shall not have another one forked

    @property
    def descriptors(self) -> tuple[int, ...]:
        """The process descriptors of all children; one that can be read has ended."""
        return (*self._running, *([self._next.pidfd] if self._next else ()))

    @property
    def is_busy(self) -> bool:
        """Whether a run is under way."""
        return bool(self._running)

    def assign(self, report: socket.socket, limits: ChildLimits) -> None:
        """Hand a child to the runner at the other end of `report`, or say there why there can be none."""
        if self._next is not None and limits != self._limits:
            os.kill(self._next.pid, signal.SIGKILL)
            self.reap(self._next.pidfd)
        self._limits = limits
        try:
            child, self._next = self._next or self._fork(), None
        except OSError as error:
            send(report, {"refused": str(error)})
            report.close()
            return
        send(report, {"pid": child.pid}, child.pidfd, *child.ends)
        child.close()
        self._running[child.pidfd] = (child, report)

    def fork_next(self) -> None:
        """Fork the next run's child where one has ended; where there can be none, that run will be told."""
        if self._is_due and self._next is None:
            with contextlib.suppress(OSError):
                self._next = self._fork()
        self._is_due = False

    def reap(self, pidfd: int) -> None:
        """Reap a child that has ended; tell its runner, if it has one, what the kernel says of it."""
        if self._next is not None and pidfd == self._next.pidfd:
            child, self._next = self._next, None
            child.close()
            child.wait()
            return
        child, report = self._running.pop(pidfd)
        send(report, child.wait())
        report.close()
        self._is_due = True

    def _fork(self) -> Child:
        with self._ranks.forking():
            return fork_child(self._walls, self._limits)


@dataclass(frozen=True, slots=True)
class ChildLimits:
    """What a run may use: seconds of processor time, and bytes over the child's size at rest."""

    cpu: float
    memory: int


@dataclass(frozen=True, slots=True)
class Child:
    """A child that waits for its job: its process id and descriptor, and our ends of its channels.

    `ends` are for its runner: the memory for its job, its answer, its prints, and the line on which it is told to
    start. A child whose line is closed before that exits.
    """

    pid: int
    pidfd: int
    ends: tuple[int, int, int, int]

    def close(self) -> None:
        """Close our copy of the ends."""
        _close(self.ends)

    def wait(self) -> dict[str, object]:
        """Wait for its end; return what the kernel says of it."""
        _, status, usage = os.wait4(self.pid, 0)
        os.close(self.pidfd)
        return {"status": status, "cpu": usage.ru_utime + usage.ru_stime, "resident": usage.ru_maxrss * 1024}


def fork_child(walls: Walls, limits: ChildLimits) -> Child:
    """Fork a child that locks itself in and waits.

    Raises:
        OSError: there can be no child now.
    """
    opened: list[int] = []
    try:
        opened.append(os.memfd_create("job", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING))
        opened += [*os.pipe(), *os.pipe()]
        opened += [end.detach() for end in socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)]
        pid = namespaces.fork_alone(walls.home)
    except OSError:
        _close(opened)
        raise
    job, result, result_end, output, output_end, line, line_end = opened
    if pid == 0:
        _run_child(Openings(job, result_end, output_end, line_end), walls, limits)
    try:
        pidfd = os.pidfd_open(pid)
    except OSError:  # nobody could end it
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        _close(opened)
        raise
    _close((result_end, output_end, line_end))
    return Child(pid, pidfd, (job, result, output, line))


def send(channel: socket.socket, message: dict[str, object], *descriptors: int) -> None:
    """Send a message with descriptors to a runner, if it still listens."""
    try:
        socket.send_fds(channel, [json.dumps(message).encode()], list(descriptors))
    except OSError:  # nobody listens any more: the runner gave this run up, or has ended
        return


def _run_child(openings: Openings, walls: Walls, limits: ChildLimits) -> NoReturn:
    """Be the child: lock down, run the job, exit without any exit handler."""
    code = 1
    try:
        from grader.sandbox import interior  # loaded long ago; the zygote's own start wants no torch

        put_up(walls, openings, cpu_seconds=limits.cpu, memory_bytes=limits.memory)
        interior.furnish(output=1)
        up = {"up": rlimits.largest_resident(), "spent": rlimits.processor_time()}
        os.write(LINE, json.dumps(up).encode())
        start = os.read(LINE, 1)
        os.write(LINE, start)  # so that a child that dies waiting can be told from one that dies of its job
        os.close(LINE)
        code = interior.perform(JOB, RESULT) if start else 0
        if start and code == 0:
            _sleep(_KILLED_SECONDS)  # once it has exited, nobody can read how much memory it used
    except rlimits.LimitTooLow as missing:
        os.write(LINE, json.dumps({"missing": str(missing)}).encode())
    except BaseException:  # noqa: BLE001  # a wall did not go up; a fork must never return into the zygote's loop
        os.write(1, traceback.format_exc().encode(errors="replace"))
    finally:
        _end(code)


def _close(descriptors: Iterable[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)
