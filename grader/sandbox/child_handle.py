"""The runner's handle of a child: gives it its job, kills it, closes its channels."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import socket
from typing import Any

from grader.errors import SandboxUnavailable
from grader.sandbox.process_handle import MESSAGE_BYTES, ProcessHandle, ZygoteLost

_START = b"!"
_UP_SECONDS = 10.0
_PIPE_BYTES = 1 << 20
_SOON_FREED = 64 << 20  # bytes
_F_ADD_SEALS, _ALL_SEALS = 1033, 0b1111  # seals: no more seals, no shrinking, no growing, no writing


class ChildHandle(ProcessHandle):
    """A child that is locked in and waits for its job, until `begin`.

    `result` and `output` are the ends of its pipes that are read.

    Raises:
        ZygoteLost: the zygote does not say who it is.
        NotStarted: the machine has no room for it now.
    """

    def __init__(self, report: socket.socket) -> None:
        super().__init__(report, descriptors=5)
        self._job, self.result, self.output, line = self._ends
        self._line = socket.socket(fileno=line)
        self._spent = self._waited = 0.0
        self._ended = False

    def begin(self, job: bytes) -> None:
        """Give it its one job; nothing of the student's runs before that.

        Raises:
            ZygoteLost: a wall did not go up, or it died while it waited.
            SandboxUnavailable: this machine allows a run less than it is promised.
        """
        with contextlib.suppress(OSError):  # a larger pipe saves waking up; the kernel may have none left to give
            fcntl.fcntl(self.result, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        with open(self._job, "wb", closefd=False) as file:
            file.write(job)
        os.lseek(self._job, 0, os.SEEK_SET)
        fcntl.fcntl(self._job, _F_ADD_SEALS, _ALL_SEALS)  # a pipe would have to be fed while we watch
        self.get_ready()
        self.before = self.used()
        try:
            self._line.send(_START)
        except OSError as error:
            raise ZygoteLost(f"a child died while it waited for its job: {error}") from error
        self._waited = super().seconds_without_core()

    def get_ready(self) -> None:
        """Wait until its walls are up.

        Raises:
            ZygoteLost: one did not go up, or it died.
            SandboxUnavailable: this machine allows a run less than it is promised.
        """
        try:
            self._line.settimeout(_UP_SECONDS)
            up = json.loads(self._line.recv(MESSAGE_BYTES) or "{}")
        except OSError:
            up = {}
        if "missing" in up:
            raise SandboxUnavailable(up["missing"])
        if "spent" not in up:
            raise ZygoteLost(f"a child did not get ready: {self._said()}")
        self.resident, self._spent = up["up"], up["spent"]

    def next_message(self) -> dict[str, Any] | None:
        """Read one message, as for any child; what it used to get ready is not the student's.

        Raises:
            ZygoteLost: the line ended without the end, or the child without having begun.
        """
        end = super().next_message()
        if end is None:
            return None
        if not self._ended and not self._has_begun():
            raise ZygoteLost("a child died while it waited for its job")
        return {**end, "cpu": max(0.0, end["cpu"] - self._spent)}

    def early_facts(self) -> dict[str, Any] | None:
        """Return what the kernel will say of it; to end takes it as long as a call, and nobody has to wait for that.

        One that has much memory takes longer, and the next one may need the room.
        """
        used, resident = self.used(), self._accounts.largest_resident()
        if not used.seconds or self.before is None or resident is None or resident - self.resident > _SOON_FREED:
            return None
        return {"status": 0, "cpu": used.seconds - self.before.seconds, "resident": resident}

    def kill(self) -> None:
        """Kill the child, as for any; whether it had begun is not asked then."""
        self._ended = True
        super().kill()

    def seconds_without_core(self) -> float:
        """Return how long its run could have gone on but other programs had the cores, as for any child."""
        return super().seconds_without_core() - self._waited

    def close(self) -> None:
        """Close its channels; a child that still waits for its job exits then."""
        super().close()
        self._line.close()
        for descriptor in (self._job, self.result, self.output):
            os.close(descriptor)

    def _has_begun(self) -> bool:
        """Return whether a child that is dead by now had been started, which it acknowledges."""
        with contextlib.suppress(OSError):
            return self._line.recv(MESSAGE_BYTES) == _START
        return False

    def _said(self) -> str:
        os.set_blocking(self.output, False)
        with contextlib.suppress(BlockingIOError):
            return os.read(self.output, MESSAGE_BYTES).decode(errors="replace").strip() or "it died"
        return "it does not answer"
