"""The process that is warm with torch and forks a locked-in child for each run.

It is started by exec in an environment of its own, holds no secret, has one thread, and never reads a job: descriptors
go straight through to the child. Its control socket carries one message a run, `{"cpu": …, "memory": …}` with four
descriptors: job, result, output, report. On the report socket it answers `{"pid": …}` with the child's pidfd, the
child adds `{"up": …}`, its resident set, once its walls are up, and at the end comes `{"status": …, "cpu": …,
"resident": …}`. Sizes are in bytes.
Where there can be no child, the only answer is `{"refused": …}`, the reason; the zygote and its other children live on.
The end of the control socket is the end of the zygote, and with it of every child.
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import socket
import traceback
from dataclasses import dataclass
from typing import NoReturn

from grader.sandbox import hugepages
from grader.sandbox.lockdown import namespaces, rlimits, root
from grader.sandbox.lockdown.descriptors import JOB, REPORT, RESULT
from grader.sandbox.lockdown.walls import Openings, Walls, prepare, put_up

MESSAGE_BYTES = 4096
DESCRIPTORS = 4  # with each message: job, result, output, report
_end = os._exit  # kept here: a submission may put something else into `os`, and a fork must never return


@dataclass(frozen=True, slots=True)
class _Child:
    pid: int
    pidfd: int
    report: socket.socket


def main(control_descriptor: int) -> NoReturn:
    """Warm up, say so, and serve until the control socket ends."""
    control = socket.socket(fileno=control_descriptor)
    namespaced = namespaces.enter()
    rooted = namespaced and root.granted()
    # After the namespaces, which want a small process; before the walls, since a child cannot open a file.
    gc.disable()  # nothing that is imported is ever garbage, and looking for some takes a third of the time
    from grader.sandbox import interior  # noqa: F401
    from grader.sandbox.warmup import warm_up

    warm_up()
    unfolded = hugepages.pieces()
    threads = len(os.listdir("/proc/self/task"))
    walls = prepare(namespaced=namespaced, rooted=rooted)  # in tier A there are no files after this line
    gc.freeze()
    gc.enable()
    _send(control, {"tier": walls.tier, "threads": threads})
    _serve(control, walls, unfolded)
    os._exit(0)


def _serve(control: socket.socket, walls: Walls, unfolded: list[hugepages.Piece]) -> None:
    children: dict[int, _Child] = {}
    poller = select.poll()
    poller.register(control, select.POLLIN)
    while True:
        idle = unfolded and not children
        ready = poller.poll(0 if idle else None)
        if not ready:
            hugepages.fold(unfolded.pop())
        for descriptor, _ in ready:
            if descriptor in children:
                poller.unregister(descriptor)
                _bury(children.pop(descriptor))
                continue
            message, descriptors, _, _ = socket.recv_fds(control, MESSAGE_BYTES, DESCRIPTORS)
            if not message:
                return
            started = _start(json.loads(message), descriptors, walls)
            if started is not None:
                children[started.pidfd] = started
                poller.register(started.pidfd, select.POLLIN)


def _start(limits: dict[str, float], descriptors: list[int], walls: Walls) -> _Child | None:
    """Fork the child that was asked for, or say why there is none: a machine that is full now has room again later."""
    if len(descriptors) < DESCRIPTORS:  # no room for them in this process; the runner sees its line end
        _close(descriptors)
        return None
    *passed_on, report_descriptor = descriptors
    report = socket.socket(fileno=report_descriptor)
    try:
        pid, pidfd = _fork(walls)
    except OSError as error:
        _close(passed_on)
        _send(report, {"refused": str(error)})
        report.close()
        return None
    if pid == 0:
        _live(Openings(*descriptors), walls, limits)
    _close(passed_on)
    _send(report, {"pid": pid}, pidfd)
    return _Child(pid, pidfd, report)


def _fork(walls: Walls) -> tuple[int, int]:
    """Fork; return the child's id and a descriptor of it, which is -1 in the child itself."""
    pid = namespaces.fork_alone(walls.home)
    if pid == 0:
        return 0, -1
    try:
        return pid, os.pidfd_open(pid)
    except OSError:  # nobody could end it
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        raise


def _close(descriptors: list[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)


def _live(openings: Openings, walls: Walls, limits: dict[str, float]) -> NoReturn:
    """Be the child: walls, then the job, then the end without any exit handler."""
    code = 1
    try:
        from grader.sandbox import interior

        put_up(walls, openings, cpu_seconds=limits["cpu"], memory_bytes=int(limits["memory"]))
        interior.furnish(output=1)
        os.write(REPORT, json.dumps({"up": rlimits.largest_resident()}).encode())
        os.close(REPORT)
        code = interior.perform(JOB, RESULT)
    except BaseException:  # noqa: BLE001  # a wall did not go up; a fork must never return into the zygote's loop
        os.write(1, traceback.format_exc().encode(errors="replace"))
    finally:
        _end(code)


def _bury(child: _Child) -> None:
    _, status, usage = os.wait4(child.pid, 0)
    os.close(child.pidfd)
    cpu = usage.ru_utime + usage.ru_stime
    _send(child.report, {"status": status, "cpu": cpu, "resident": usage.ru_maxrss * 1024})
    child.report.close()


def _send(channel: socket.socket, message: dict[str, object], *descriptors: int) -> None:
    try:
        socket.send_fds(channel, [json.dumps(message).encode()], list(descriptors))
    except OSError:  # nobody listens any more: the runner gave this run up, or has ended
        return
