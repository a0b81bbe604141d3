"""One worker as its runner sees it: warm it up, hand it its one job, end it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
from typing import Any

from grader.sandbox.gpu.launch import Launched
from grader.sandbox.process_handle import ProcessHandle, ZygoteLost

_GREETING_SECONDS = 60.0
_WARM_SECONDS = 240.0  # a driver that loads all of its kernels, from a cold disk
_BEGIN_SECONDS = 10.0
_PIPE_BYTES = 1 << 20


class GpuWorker(ProcessHandle):
    """A worker that was launched; `wait` returns once it is warm and closed in.

    `facts` is what it said of itself then; `pid` is its number out here.

    Raises:
        ZygoteLost: it ended before it could say anything.
    """

    def __init__(self, launched: Launched) -> None:
        self._launched = launched
        self.facts: dict[str, Any] = {}
        select.select([launched.report], [], [], _GREETING_SECONDS)
        super().__init__(launched.report)
        self.pid = self.number()

    @property
    def result(self) -> int:
        """The end of its answer that is read."""
        return self._launched.result

    @property
    def output(self) -> int:
        """The end of its prints that is read."""
        return self._launched.output

    def wait(self) -> None:
        """Wait until its walls are up.

        Raises:
            ZygoteLost: it ended on the way; the text holds what it said.
        """
        self.report.settimeout(_WARM_SECONDS)
        while not self.resident:
            message, _ = self._receive()
            if "status" in message:
                raise ZygoteLost(f"a worker did not get ready: {self._launched.said() or message}")
            self.facts = message

    def alive(self) -> bool:
        """Return whether it still waits for its job; one that was killed meanwhile has said so."""
        return not select.select([self.report], [], [], 0)[0]

    def hand_over(self, job: bytes) -> None:
        """Give it its one job, and return when it has begun to read it; nothing of the student's runs before that.

        Raises:
            ZygoteLost: it died while it waited.
        """
        with contextlib.suppress(OSError):  # a larger pipe saves waking up; the kernel may have none left to give
            fcntl.fcntl(self._launched.job, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        try:
            with self._launched.job as pipe:
                view = memoryview(job)
                while view:
                    view = view[pipe.write(view) or 0 :]
        except BrokenPipeError as error:
            raise ZygoteLost("a worker died before it had its job") from error
        self.report.settimeout(_BEGIN_SECONDS)
        message, _ = self._receive()
        if "begun" not in message:
            raise ZygoteLost("a worker died while it waited for its job")

    def next_message(self) -> dict[str, Any] | None:
        """Read one message, as for any child; what it used while it warmed up is not the student's."""
        end = super().next_message()
        return end and {**end, "cpu": max(0.0, end["cpu"] - self.facts["cpu"])}

    def close(self) -> None:
        """End it, and close everything that led to it."""
        self.kill()
        os.close(self._pidfd)
        self._launched.close()
