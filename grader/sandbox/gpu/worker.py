"""The process of one worker: a guardian without any power of judgement, and the worker that it looks after.

Started by exec with its orders, `{"job": …, "result": …, "output": …, "report": …, "device": …, "reserve": …}`, four
descriptors, a device and bytes. On the report socket it says what a zygote says of a child: `{"pid": …}` with a pidfd,
`{"up": …, "cpu": …, "threads": …, "apart": …, "devices": …}` when it is warm and closed in, `{"begun": true}` when its
job arrives, and at the end `{"status": …, "cpu": …, "resident": …}`. It reads one job, up to the end of the pipe, and
nothing else ever.
The end of the report socket is the end of the worker.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import select
import signal
import socket
import traceback
from typing import Any, NoReturn

from grader.sandbox.gpu import descriptors, walls, world
from grader.sandbox.gpu.descriptors import WorkerDescriptors
from grader.sandbox.lockdown import privileges, rlimits

_READY, _GO = b"ready", b"go"


def main(text: str) -> NoReturn:
    """Follow the orders in `text`, and end with the worker."""
    orders: dict[str, Any] = json.loads(text)
    apart = world.granted()
    if apart:
        world.part()
    near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    guardian = os.getpid()
    worker = os.fork()
    if worker == 0:
        near.close()
        _live(orders, far.detach(), guardian=guardian, apart=apart)
    far.close()
    for name in ("job", "result", "output"):  # or the pipes would never end
        os.close(orders[name])
    _guard(worker, near, socket.socket(fileno=orders["report"]), apart)


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
            _take_the_files(line, apart)


def _take_the_files(line: socket.socket, apart: bool) -> None:
    """Do what the worker asked for, if it did not end instead, and tell it to go on."""
    if line.recv(len(_READY)) != _READY:
        return
    if apart:
        world.take_the_files()
    line.send(_GO)


def _reap(worker: int, report: socket.socket) -> NoReturn:
    _, status, usage = os.wait4(worker, 0)
    cpu = usage.ru_utime + usage.ru_stime
    told = {"status": status, "cpu": cpu, "resident": usage.ru_maxrss * 1024}
    try:
        report.send(json.dumps(told).encode())
    finally:
        os._exit(0)


def _live(orders: dict[str, Any], line: int, *, guardian: int, apart: bool) -> NoReturn:
    """Be the worker, to the end without any exit handler."""
    code = 1
    try:
        files = descriptors.settle(**{name: orders[name] for name in ("job", "result", "report", "output")}, line=line)
        privileges.die_with(0 if apart else guardian)
        if apart:
            world.show_own_processes()
        code = _work(files, orders["device"], orders["reserve"], guardian=0 if apart else guardian)
    except BaseException:  # noqa: BLE001  # a wall did not go up; this process must never get back into `main`
        os.write(2, traceback.format_exc().encode(errors="replace"))
    finally:
        os._exit(code)


def _work(files: WorkerDescriptors, device: str, reserve: int, *, guardian: int) -> int:
    privileges.yield_the_processor()
    gc.disable()  # nothing that is imported is ever garbage, and looking for some takes a third of the time
    # In here and not above: the guardian has no use for torch.
    from grader.sandbox import interior
    from grader.sandbox.gpu.device import make_ready
    from grader.sandbox.warmup import warm_up

    warm_up()
    walls.give_up_power(guardian)
    make_ready(device, reserve)
    devices = descriptors.keep_the_drivers()
    threads, above = len(os.listdir("/proc/self/task")), descriptors.highest() + 1
    _have_the_files_taken(files)
    descriptors.hand_over_output(files)
    walls.close_in(devices, above)
    _say_up(files, threads=threads, devices=len(devices), apart=guardian == 0)
    gc.freeze()
    gc.enable()
    interior.furnish(output=1)
    _await_the_job(files)
    return interior.perform(files.job, files.result)


def _have_the_files_taken(files: WorkerDescriptors) -> None:
    """Tell the guardian that no file is needed any more, and wait until it has done its part."""
    with socket.socket(fileno=files.line) as line:
        line.send(_READY)
        if line.recv(len(_GO)) != _GO:
            raise OSError("the guardian could not take the files away")


def _say_up(files: WorkerDescriptors, *, threads: int, devices: int, apart: bool) -> None:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    told = {
        "up": rlimits.largest_resident(),
        "cpu": usage.ru_utime + usage.ru_stime,
        "threads": threads,
        "devices": devices,
        "apart": apart,
    }
    os.write(files.report, json.dumps(told).encode())


def _await_the_job(files: WorkerDescriptors) -> None:
    """Wait for the first bytes of the job, and say so: who dies before that has run nothing of a student's."""
    poller = select.poll()
    poller.register(files.job, select.POLLIN)
    poller.poll()
    os.write(files.report, json.dumps({"begun": True}).encode())
    os.close(files.report)
