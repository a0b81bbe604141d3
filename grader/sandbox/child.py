"""A child of the zygote, from its fork to its exit: it locks itself in, waits for its job, and runs it.

Whatever it will ever need is opened before the fork, so that a child can wait, locked in, for a job that does not exist
yet, and needs no system call to take it but a read.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import socket
import time
import traceback
from dataclasses import dataclass
from typing import NoReturn

from grader.sandbox.lockdown import Openings, Walls, put_up
from grader.sandbox.walls import namespaces, rlimits
from grader.sandbox.walls.descriptors import JOB, LINE, RESULT

# Kept here: a submission may put something else into `os` and `time`, and a fork must never return.
_end, _sleep = os._exit, time.sleep
_KILLED_SECONDS = 5.0  # at most; whoever has read the whole answer kills the child


@dataclass(frozen=True, slots=True)
class ChildLimits:
    """What a run may use: seconds of processor time, and bytes over the child's size at rest."""

    cpu: float
    memory: int


@dataclass(frozen=True, slots=True)
class Child:
    """A child that waits for its job: its process id and descriptor, and our ends of its channels.

    `ends` are for its runner: the memory for its job, its answer, its prints, and the line on which it is told to
    start. A child whose line is closed before that exits. `rehearsed` says whether it has run a job of ours.
    """

    pid: int
    pidfd: int
    ends: tuple[int, int, int, int]
    rehearsed: bool

    def close(self) -> None:
        """Close our copy of the ends."""
        _close(self.ends)

    def wait(self) -> dict[str, object]:
        """Wait for its end; return what the kernel says of it."""
        _, status, usage = os.wait4(self.pid, 0)
        os.close(self.pidfd)
        return {"status": status, "cpu": usage.ru_utime + usage.ru_stime, "resident": usage.ru_maxrss * 1024}


def fork_child(walls: Walls, limits: ChildLimits, *, rehearsed: bool) -> Child:
    """Fork a child that locks itself in and waits; `rehearsed` has it run a job of ours before.

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
        _run_child(Openings(job, result_end, output_end, line_end), walls, limits, rehearsed=rehearsed)
    try:
        pidfd = os.pidfd_open(pid)
    except OSError:  # nobody could end it
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        _close(opened)
        raise
    _close((result_end, output_end, line_end))
    return Child(pid, pidfd, (job, result, output, line), rehearsed)


def send(channel: socket.socket, message: dict[str, object], *descriptors: int) -> None:
    """Send a message with descriptors to a runner, if it still listens."""
    try:
        socket.send_fds(channel, [json.dumps(message).encode()], list(descriptors))
    except OSError:  # nobody listens any more: the runner gave this run up, or has ended
        return


def _run_child(openings: Openings, walls: Walls, limits: ChildLimits, *, rehearsed: bool) -> NoReturn:
    """Be the child: lock down, run the job, exit without any exit handler."""
    code = 1
    try:
        from grader.sandbox import interior, warmup  # loaded long ago; the zygote's own start wants no torch

        put_up(walls, openings, cpu_seconds=limits.cpu, memory_bytes=limits.memory)
        interior.furnish(output=1)
        if rehearsed:
            warmup.rehearse(times=1)
            gc.collect(1)  # its classes refer to themselves; the oldest generation is none of its
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


def _close(descriptors: tuple[int, ...] | list[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)
