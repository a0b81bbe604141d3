"""The process of one worker: a guardian without any power of judgement, and the worker that it looks after.

Started by exec with its orders, `{"job": …, "result": …, "output": …, "report": …, "device": …, "reserve": …}`, four
descriptors, a device and bytes. On the report socket it says what a zygote says of a child: `{"pid": …}` with a pidfd,
`{"up": …, "cpu": …, "threads": …, "apart": …, "devices": …}` when it is warm and closed in, `{"begun": true}` when its
job arrives, and at the end `{"status": …, "cpu": …, "resident": …}`. It reads one job, up to the end of the pipe, and
nothing else ever.
The end of the report socket is the end of the worker.

Where the system grants it, the worker has a world of its own: processes, network, messages and, in the end, no files. A
driver wants files and /proc while it starts, so the files go last, and the guardian takes them away: it shares the
worker's mounts, and has kept the power that the worker has given up.
"""

from __future__ import annotations

import contextlib
import gc
import json
import math
import os
import resource
import select
import signal
import socket
import traceback
from typing import Any, NoReturn

from grader.sandbox.walls import calls, descriptors, kernel, landlock, namespaces, privileges, rlimits, seccomp

_READY, _GO = b"ready", b"go"
_REPORT, _OUTPUT, _LINE = 5, 6, 7  # numbers of a worker's own files, beside JOB and RESULT
_FIRST_FOREIGN = 8
_DRIVER = "/dev/nvidia"
# What a driver makes for itself: its threads wait on these, and none of them leads to a file of the machine.
_HARMLESS = ("anon_inode:[eventfd]", "anon_inode:[eventpoll]", "pipe:[", "/memfd:", "/dev/null")
_PROC = 0b1110  # no set-user-id, no devices, nothing to execute
_PR_SET_DUMPABLE = 4
_RESTRICT_SELF, _EVERY_THREAD_SINCE, _EVERY_THREAD = 446, 8, 1 << 3  # LANDLOCK_RESTRICT_SELF_TSYNC
_BACKSTOP_SECONDS = 600  # of processor time; the runner stops a job much earlier


def main(text: str) -> NoReturn:
    """Follow the orders in `text`, and end with the worker."""
    orders: dict[str, Any] = json.loads(text)
    apart = namespaces.works(_part_in_a_trial)
    if apart:
        _part()
    near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    guardian = os.getpid()
    worker = os.fork()
    if worker == 0:
        near.close()
        _live(orders, far.detach(), guardian=0 if apart else guardian)
    far.close()
    for name in ("job", "result", "output"):  # or the pipes would never end
        os.close(orders[name])
    _guard(worker, near, socket.socket(fileno=orders["report"]), apart)


def _part_in_a_trial() -> bool:
    _part()
    inner = os.fork()
    if not inner:
        _show_own_processes()
        return os.readlink("/proc/self") == "1"
    shown = os.waitpid(inner, 0)[1] == 0
    namespaces.empty_the_root()
    return shown and not os.listdir("/")


def _part() -> None:
    """Move this process, and for process ids its next child, into a world of its own."""
    namespaces.separate()
    namespaces.part_from_mounts()


def _show_own_processes() -> None:
    """Let /proc show this world instead of the machine's.

    A CUDA driver writes its threads' names to /proc/<pid>/task/<tid>/comm, with the numbers of its own world, and does
    not start where that is somebody else's.
    """
    kernel.mount("proc", "/proc", kind="proc", flags=_PROC)


def _guard(worker: int, line: socket.socket, report: socket.socket, apart: bool) -> NoReturn:
    """Look after the worker until it is dead: take its files when it asks, end it when nobody waits for it."""
    pidfd = os.pidfd_open(worker)
    socket.send_fds(report, [json.dumps({"pid": worker}).encode()], [pidfd])
    poller = select.poll()
    for descriptor in (pidfd, line.fileno(), report.fileno()):
        poller.register(descriptor, select.POLLIN)
    while True:
        ready = {descriptor for descriptor, _ in poller.poll()}
        if pidfd in ready:
            _reap(worker, report)
        if report.fileno() in ready:  # nobody ever writes to us: it has ended
            os.kill(worker, signal.SIGKILL)
            poller.unregister(report.fileno())
        if line.fileno() in ready:
            poller.unregister(line.fileno())
            ready_to_go = line.recv(len(_READY)) == _READY  # else it has ended
            if ready_to_go and apart:  # no path for any thread, also of those that a driver started before
                namespaces.empty_the_root()
            if ready_to_go:
                line.send(_GO)


def _reap(worker: int, report: socket.socket) -> NoReturn:
    _, status, usage = os.wait4(worker, 0)
    cpu = usage.ru_utime + usage.ru_stime
    try:
        report.send(json.dumps({"status": status, "cpu": cpu, "resident": usage.ru_maxrss * 1024}).encode())
    finally:
        os._exit(0)


def _live(orders: dict[str, Any], line: int, *, guardian: int) -> NoReturn:
    """Be the worker, to the end without any exit handler; `guardian` is 0 in a world of its own."""
    code = 1
    try:
        # Before a driver opens any. Standard output and error stay: what is said while warming up is for our log.
        own = {descriptors.JOB: orders["job"], descriptors.RESULT: orders["result"], _REPORT: orders["report"]}
        descriptors.move({**own, _OUTPUT: orders["output"], _LINE: line})
        os.closerange(_FIRST_FOREIGN, descriptors.ALL)
        privileges.die_with(guardian)
        if not guardian:
            _show_own_processes()
        code = _work(orders["device"], orders["reserve"], guardian=guardian)
    except BaseException:  # noqa: BLE001  # a wall did not go up; this process must never get back into `main`
        os.write(2, traceback.format_exc().encode(errors="replace"))
    finally:
        os._exit(code)


def _work(device: str, reserve: int, *, guardian: int) -> int:
    privileges.yield_the_processor()
    gc.disable()  # nothing that is imported is ever garbage, and looking for some takes a third of the time
    # In here and not above: the guardian has no use for torch.
    from grader.sandbox import interior
    from grader.sandbox.gpu.device import make_ready
    from grader.sandbox.warmup import warm_up

    warm_up()
    _give_up_power(guardian)
    make_ready(device, reserve)
    devices = _keep_the_drivers()
    threads, above = len(os.listdir("/proc/self/task")), max(_opened()) + 1
    with socket.socket(fileno=_LINE) as line:  # no file is needed any more
        line.send(_READY)
        if line.recv(len(_GO)) != _GO:
            raise OSError("the guardian could not take the files away")
    for standard in (1, 2):  # what is printed from now on is the runner's
        os.dup2(_OUTPUT, standard, inheritable=False)
    os.close(_OUTPUT)
    _close_in(devices, above)
    facts = {"threads": threads, "devices": len(devices), "apart": guardian == 0}
    up = {"up": rlimits.largest_resident(), "cpu": rlimits.processor_time()}
    os.write(_REPORT, json.dumps({**up, **facts}).encode())
    gc.freeze()
    gc.enable()
    interior.furnish(output=1)
    poller = select.poll()  # not select, which the filter does not know
    poller.register(descriptors.JOB, select.POLLIN)
    poller.poll()
    os.write(_REPORT, json.dumps({"begun": True}).encode())  # who dies before that has run nothing of a student's
    os.close(_REPORT)
    return interior.perform(descriptors.JOB, descriptors.RESULT)


def _keep_the_drivers() -> tuple[int, ...]:
    """Close what was opened since the start, but for a driver's own; return the driver's device files.

    Stops the use of a file, a socket or a folder that some library left open.
    """
    foreign = {number: target for number, target in _opened().items() if number >= _FIRST_FOREIGN}
    devices = tuple(number for number, target in foreign.items() if target.startswith(_DRIVER))
    for number, target in foreign.items():
        if number not in devices and not target.startswith(_HARMLESS):
            os.close(number)
    return devices


def _opened() -> dict[int, str]:
    """Return the open files, by number, with what they lead to; the listing's own one is gone again."""
    opened = {}
    for name in sorted(os.listdir("/proc/self/fd"), key=int):
        with contextlib.suppress(FileNotFoundError):
            opened[int(name)] = os.readlink(f"/proc/self/fd/{name}")
    return opened


def _give_up_power(guardian: int) -> None:
    """Give up user 0, capabilities and new privileges, while there is one thread and no driver yet.

    A driver asks what its caller may do when it is opened, and remembers.
    """
    privileges.become_nobody()
    privileges.drop_capabilities()
    privileges.forbid_new_privileges()
    privileges.die_with(guardian)  # a change of user clears it
    kernel.prctl(_PR_SET_DUMPABLE, 1)  # as well: without it /proc/self is root's, and the driver writes there


def _close_in(devices: tuple[int, ...], files: int) -> None:
    """Put up the last walls, over every thread as far as the kernel can.

    Landlock before version 8 holds the calling thread only; the filter holds them all.

    Args:
        devices: the driver's open files, on which any request stays possible.
        files: all numbers of open files are below.
    """
    architecture = seccomp.architecture(os.uname().machine)
    program = seccomp.prepare(architecture, calls.beside_a_driver(devices))
    ruleset, everywhere = landlock.prepare(), landlock.version() >= _EVERY_THREAD_SINCE
    _limit(files)
    privileges.become_undumpable()
    if ruleset is not None:
        kernel.syscall(_RESTRICT_SELF, ruleset, _EVERY_THREAD if everywhere else 0)
        os.close(ruleset)
    seccomp.load_everywhere(program, architecture)


def _limit(files: int) -> None:
    """Set the limits that a driver can live with.

    Not the address space: CUDA reserves terabytes of it. The runner watches what is really used.
    """
    values = {
        resource.RLIMIT_CPU: math.ceil(rlimits.processor_time()) + _BACKSTOP_SECONDS,
        resource.RLIMIT_NOFILE: files,
        **rlimits.NOTHING,
    }
    for which, value in values.items():
        resource.setrlimit(which, (value, value))
