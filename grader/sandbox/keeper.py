"""Keeps a zygote: starts it, hands it runs, ends it."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Self

from grader.box.run import Limits
from grader.errors import GraderFault

_ROOT = Path(__file__).resolve().parents[2]
_ENTRY = "import sys; sys.path.insert(0, {root!r}); from grader.sandbox.zygote import main; main({descriptor})"
_START_SECONDS = 60.0
_REPLY_SECONDS = 5.0
_MESSAGE_BYTES = 4096


class ZygoteLost(GraderFault):
    """The zygote is gone or does not answer; a new one may do better."""


class NotStarted(GraderFault):
    """The zygote can fork no child now, for lack of processes or memory; it lives on, and later it may."""


class Started:
    """One child: its process descriptor, and the line on which its zygote tells how it fares.

    `resident` is its resident set in bytes when its walls were up, 0 before: until then nothing of the student's runs.
    """

    def __init__(self, report: socket.socket) -> None:
        self.report = report
        self.resident = 0
        self._pidfd = self._first_reply()

    def next_message(self) -> dict[str, Any] | None:
        """Read one message; return what the kernel said about the child's end, None as long as it lives.

        Raises:
            ZygoteLost: the line ended without it.
        """
        message, _ = self._receive()
        return message if "status" in message else None

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

    def seconds_without_core(self) -> float:
        """Return how long the child could have run but other programs had the cores; 0 where nobody counts it."""
        try:
            return int(Path(f"/proc/{self.number()}/schedstat").read_text().split()[1]) / 1e9
        except (OSError, StopIteration, IndexError):
            return 0.0

    def close(self) -> None:
        """Close both descriptors."""
        self.report.close()
        os.close(self._pidfd)

    def _first_reply(self) -> int:
        self.report.settimeout(_REPLY_SECONDS)
        while True:  # the child may be up before its zygote has said so
            try:
                message, descriptors = self._receive()
            except ZygoteLost:
                self.report.close()
                raise
            if "refused" in message:
                self.report.close()
                raise NotStarted(f"the sandbox can start no child now: {message['refused']}")
            if descriptors:
                return descriptors[0]

    def _receive(self) -> tuple[dict[str, Any], list[int]]:
        try:
            message, descriptors, _, _ = socket.recv_fds(self.report, _MESSAGE_BYTES, 1)
        except OSError as error:
            raise ZygoteLost(f"the sandbox's zygote does not answer: {error}") from error
        if not message:
            raise ZygoteLost("the sandbox's zygote ended while a run was under way")
        fields: dict[str, Any] = json.loads(message)
        self.resident = fields.get("up", self.resident)
        return fields, descriptors


class Zygote:
    """A zygote that warms up from now on, and takes runs once `wait` has returned.

    `tier` says how high its walls are, `A`, `B` or `C`; empty as long as it warms up.
    """

    def __init__(self) -> None:
        self.tier = ""
        self._scratch = tempfile.mkdtemp(prefix="grader-zygote-")
        self._log = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the zygote
        self._control, inner = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with inner:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-c", _ENTRY.format(root=str(_ROOT), descriptor=inner.fileno())],
                env=_environment(self._scratch),
                cwd="/",
                pass_fds=[inner.fileno()],
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
            message = self._control.recv(_MESSAGE_BYTES)
        except OSError as error:
            message = str(error).encode()
        if not message.startswith(b"{"):
            self._log.seek(0)
            said = self._log.read().decode(errors="replace").strip()
            self.close()
            raise GraderFault(f"the sandbox's zygote did not start: {said or message.decode() or 'it ended at once'}")
        self._control.settimeout(_REPLY_SECONDS)
        hello: dict[str, Any] = json.loads(message)
        if hello["threads"] != 1:
            self.close()
            raise GraderFault(f"the sandbox's zygote has {hello['threads']} threads; a fork keeps only one of them")
        self.tier = hello["tier"]
        return self

    def start(self, descriptors: tuple[int, int, int], limits: Limits) -> Started:
        """Fork a locked-in child on `(job, result, output)`; safe to call from several threads.

        Raises:
            ZygoteLost: the zygote did not take it.
            NotStarted: the machine has no room for a child now.
        """
        near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        request = json.dumps({"cpu": limits.cpu_seconds, "memory": limits.memory_bytes}).encode()
        with far:
            try:
                socket.send_fds(self._control, [request], [*descriptors, far.fileno()])
            except OSError as error:
                near.close()
                raise ZygoteLost(f"the sandbox's zygote takes no run: {error}") from error
        return Started(near)

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
        shutil.rmtree(self._scratch, ignore_errors=True)


def _as_nice_as_we_are(pid: int) -> None:
    """Let a fresh session stand back as far as ours, where the kernel shares the cores out among sessions."""
    with contextlib.suppress(OSError, ValueError):  # most servers' kernels do not
        nice = Path("/proc/self/autogroup").read_text().rpartition(" ")[2]
        Path(f"/proc/{pid}/autogroup").write_text(nice)


def _environment(scratch: str) -> dict[str, str]:
    """Return the zygote's whole environment: one thread for every library, no device, nothing of the service's."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OMP_THREAD_LIMIT", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    places = dict.fromkeys(("HOME", "TMPDIR", "TORCHINDUCTOR_CACHE_DIR"), scratch)
    return {**threads, **places, "CUDA_VISIBLE_DEVICES": "", "LANG": "C.UTF-8", "PATH": "/usr/bin:/bin"}
