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

import gc
import json
import os
import select
import socket
from collections.abc import Iterable
from typing import NoReturn

from grader.sandbox import hugepages
from grader.sandbox.child import ChildLimits, send
from grader.sandbox.lockdown import namespaces, oom, root
from grader.sandbox.lockdown.walls import prepare
from grader.sandbox.prefork import PreforkPool

MESSAGE_BYTES = 4096
_QUIET = 100  # milliseconds without a run before a child is made ready; runs in a row would only be slowed down by it


def main(control_descriptor: int, group_descriptor: int = -1, *, brief: bool = False) -> NoReturn:
    """Warm up, say so, and serve until the control socket ends; first of all join the group, if there is one."""
    if group_descriptor >= 0:
        os.write(group_descriptor, b"0")  # whoever writes it
        os.close(group_descriptor)
    control = socket.socket(fileno=control_descriptor)
    oom.stand_at(oom.ZYGOTE)
    namespaced = namespaces.enter()
    rooted = namespaced and root.granted()
    ranks = oom.Ranks()  # of the process that forks, while there are files
    # After the namespaces, which want a small process; before the walls, since a child cannot open a file.
    gc.disable()  # nothing that is imported is ever garbage, and looking for some takes a third of the time
    from grader.sandbox import interior  # noqa: F401
    from grader.sandbox.warmup import warm_up

    warm_up(brief=brief)
    unfolded = hugepages.pieces()
    threads = len(os.listdir("/proc/self/task"))
    walls = prepare(namespaced=namespaced, rooted=rooted)  # in tier A there are no files after this line
    gc.freeze()
    gc.enable()
    send(control, {"tier": walls.tier, "threads": threads})
    _serve(control, PreforkPool(walls, ranks), unfolded)
    os._exit(0)


def _serve(control: socket.socket, pool: PreforkPool, unfolded: list[hugepages.MemoryRange]) -> None:
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
            hugepages.fold(unfolded.pop())
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
