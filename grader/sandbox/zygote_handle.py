"""The handle of a zygote: starts it, asks it for children, ends it."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Self

from grader import search_path
from grader.box.run import Limits
from grader.errors import GraderFault
from grader.sandbox import cgroup
from grader.sandbox.child_handle import ChildHandle
from grader.sandbox.process_handle import MESSAGE_BYTES, REPLY_SECONDS, ZygoteLost

_START_SECONDS = 60.0
_GONE_SECONDS = 1.0
_NOWHERE = "/nonexistent"  # the usual name of a home that there is not: nothing is read or written there
_KILLED = (-9, 0xFF & -9)  # itself, or the process for which it waits, see `namespaces`


class ZygoteHandle:
    """A zygote that warms up from now on, and takes runs once `wait` has returned.

    `tier` says how high its walls are, `A`, `B` or `C`; empty as long as it warms up. With `room`, in bytes, it and its
    children together may use no more memory than that, where this machine has groups for it. A `brief` one is warm a
    tenth of a second sooner, and its runs are a little slower.
    """

    def __init__(self, room: int = 0, *, brief: bool = False) -> None:
        self.tier = ""
        self._group = cgroup.make(room) if room else None
        self._log = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the zygote
        self._control, inner = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        joins = [] if self._group is None else [self._group.file]
        with inner:
            arguments = f"{inner.fileno()}, {(*joins, -1)[0]}, brief={brief}"
            self._process = subprocess.Popen(
                search_path.isolated("grader.sandbox.zygote", "main", arguments),
                env=_environment(),
                cwd="/",
                pass_fds=[inner.fileno(), *joins],
                stdin=subprocess.DEVNULL,
                stdout=self._log,
                stderr=self._log,
                start_new_session=True,
            )
        _as_nice_as_we_are(self._process.pid)

    def wait(self) -> Self:
        """Return this zygote once it is warm.

        Raises:
            GraderFault: it did not start.
        """
        self._control.settimeout(_START_SECONDS)
        try:
            message = self._control.recv(MESSAGE_BYTES)
        except OSError as error:
            message = str(error).encode()
        if not message.startswith(b"{"):
            self._log.seek(0)
            said = self._log.read().decode(errors="replace").strip()
            self.close()
            raise GraderFault(f"the sandbox's zygote did not start: {said or message.decode() or 'it ended at once'}")
        self._control.settimeout(REPLY_SECONDS)
        hello: dict[str, Any] = json.loads(message)
        if hello["threads"] != 1:
            self.close()
            raise GraderFault(f"the sandbox's zygote has {hello['threads']} threads; a fork keeps only one of them")
        self.tier = hello["tier"]
        return self

    def start(self, limits: Limits) -> ChildHandle:
        """Have a locked-in child that waits for its job; safe to call from several threads.

        Raises:
            ZygoteLost: the zygote did not take the order.
            NotStarted: the machine has no room for a child now.
        """
        near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        order = json.dumps({"cpu": limits.cpu_seconds, "memory": limits.memory_bytes}).encode()
        with far:
            try:
                socket.send_fds(self._control, [order], [far.fileno()])
            except OSError as error:
                near.close()
                raise ZygoteLost(f"the sandbox's zygote takes no run: {error}") from error
        return ChildHandle(near)

    def was_killed(self) -> bool:
        """Return whether it was killed, and not by us; it is given a moment to have ended."""
        try:
            return self._process.wait(timeout=_GONE_SECONDS) in _KILLED
        except subprocess.TimeoutExpired:
            return False

    def close(self) -> None:
        """End the zygote, and with it every child that still runs."""
        self._control.close()
        if not self.tier:  # it would not notice before it is warm
            self._process.kill()
        try:
            self._process.wait(timeout=1.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()
        if self._group is not None:
            self._group.remove()

    def kill(self) -> None:
        """End it without waiting for it, at any moment of its start."""
        self._process.kill()
        if self._group is not None:
            self._group.remove()


def _as_nice_as_we_are(pid: int) -> None:
    """Let a fresh session stand back as far as ours, where the kernel shares the cores out among sessions."""
    with contextlib.suppress(OSError, ValueError):  # most servers' kernels do not
        nice = Path("/proc/self/autogroup").read_text().rpartition(" ")[2]
        Path(f"/proc/{pid}/autogroup").write_text(nice)


def _environment() -> dict[str, str]:
    """Return the zygote's whole environment: one thread for every library, no device, nothing of the service's."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OMP_THREAD_LIMIT", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    places = dict.fromkeys(("HOME", "TMPDIR", "TORCHINDUCTOR_CACHE_DIR"), _NOWHERE)
    return {**threads, **places, "CUDA_VISIBLE_DEVICES": "", "LANG": "C.UTF-8", "PATH": "/usr/bin:/bin"}
