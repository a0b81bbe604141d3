"""The runner's handle of a process that serves one run."""

from __future__ import annotations

import json
import os
import signal
import socket
from pathlib import Path
from typing import Any

from grader.errors import GraderFault
from grader.sandbox.meter import KernelAccounts, Use

REPLY_SECONDS = 5.0
MESSAGE_BYTES = 4096


class ZygoteLost(GraderFault):
    """The zygote is gone or does not answer; a new one may do better."""


class NotStarted(GraderFault):
    """The zygote can fork no child now, for lack of processes or memory; it lives on, and later it may."""


class ProcessHandle:
    """One child: its process descriptor, and the socket on which its zygote reports on it.

    `resident` is its resident set in bytes when its walls were up, 0 before: until then nothing of the student's runs.
    `before` is what it had used by then, None where nobody reads it.
    """

    def __init__(self, report: socket.socket, *, descriptors: int = 1) -> None:
        """Take the first reply on `report`, which comes with so many `descriptors`, the process's own first.

        Raises:
            ZygoteLost: there is none.
            NotStarted: there can be no child now, or no descriptors here.
        """
        self.report = report
        self.resident = 0
        self.before: Use | None = None
        self._pidfd, *self._ends = self._first_reply(descriptors)
        self._accounts = self._opened_accounts()

    def next_message(self) -> dict[str, Any] | None:
        """Read one message; return what the kernel said about the child's end, None as long as it lives.

        Raises:
            ZygoteLost: the line ended without it.
        """
        message, _ = self._receive()
        return message if "status" in message else None

    def early_facts(self) -> dict[str, Any] | None:
        """Return what the kernel will say of a child that has done its work, None where one has to wait for its end."""
        return None

    def kill(self) -> None:
        """Kill the child; by descriptor, so that it can be nobody else."""
        try:
            signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
        except ProcessLookupError:  # it was quicker
            return

    def number(self) -> int:
        """Return the child's process id as it is out here; the zygote knows it by another one.

        Raises:
            OSError, StopIteration: nobody tells.
        """
        facts = Path(f"/proc/self/fdinfo/{self._pidfd}").read_text(encoding="ascii")
        return int(next(line.split()[1] for line in facts.splitlines() if line.startswith("Pid:")))

    def used(self) -> Use:
        """Return what it has used up to now, nothing where nobody tells."""
        return self._accounts.use()

    def seconds_without_core(self) -> float:
        """Return how long the child could have run but other programs had the cores; 0 where nobody counts it."""
        return self._accounts.seconds_without_core()

    def close(self) -> None:
        """Close its descriptors."""
        self.report.close()
        self._accounts.close()
        os.close(self._pidfd)

    def _opened_accounts(self) -> KernelAccounts:
        try:
            return KernelAccounts(self.number())
        except (OSError, StopIteration):  # nobody tells
            return KernelAccounts(-1)

    def _first_reply(self, expected: int) -> list[int]:
        self.report.settimeout(REPLY_SECONDS)
        descriptors: list[int] = []
        try:
            while True:  # a child may be up before it is said who it is
                message, descriptors = self._receive(expected)
                if "refused" in message:
                    raise NotStarted(f"the sandbox can start no child now: {message['refused']}")
                if len(descriptors) == expected:
                    return descriptors
                if "pid" in message:
                    raise NotStarted("the sandbox can start no child now: this process has no descriptors left")
        except GraderFault:
            self.report.close()
            for descriptor in descriptors:
                os.close(descriptor)
            raise

    def _receive(self, expected: int = 0) -> tuple[dict[str, Any], list[int]]:
        try:
            message, descriptors, _, _ = socket.recv_fds(self.report, MESSAGE_BYTES, expected)
        except OSError as error:
            raise ZygoteLost(f"the sandbox's zygote does not answer: {error}") from error
        if not message:
            raise ZygoteLost("the sandbox's zygote ended while a run was under way")
        fields: dict[str, Any] = json.loads(message)
        self.resident = fields.get("up", self.resident)
        return fields, descriptors
