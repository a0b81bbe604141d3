"""The runner's handles of a zygote and of its children: starts it, asks it for a child, gives that its job, ends both.

What a child has used is read from the kernel's own accounts while it runs. Where a kernel keeps no run time in /proc
(it then has neither CONFIG_SCHED_INFO nor a schedstat), the limits of the process and the wall clock are all there is.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import mmap
import os
import signal
import socket
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Self

from grader import search_path
from grader.box.run import Limits
from grader.errors import GraderFault, SandboxUnavailable
from grader.sandbox import memory

MESSAGE_BYTES = 4096
_PIPE_BYTES = 1 << 20
_REPLY_SECONDS, _UP_SECONDS, _START_SECONDS, _GONE_SECONDS = 5.0, 10.0, 60.0, 1.0
_NOWHERE = "/nonexistent"  # the usual name of a home that there is not: nothing is read or written there
_KILLED = (-9, 0xFF & -9)  # itself, or the process for which it waits, see `namespaces`
_START = b"!"
_SOON_FREED = 64 << 20  # bytes
_F_ADD_SEALS, _ALL_SEALS = 1033, 0b1111  # seals: no more seals, no shrinking, no growing, no writing


@dataclass(frozen=True, slots=True)
class Use:
    """What a process has used: processor time in seconds, and bytes of memory, its own and that of a device."""

    seconds: float = 0.0
    memory: int = 0
    device: int = 0


class ZygoteLost(GraderFault):
    """The zygote is gone or does not answer; a new one may do better."""


class NotStarted(GraderFault):
    """The zygote can fork no child now, for lack of processes or memory; it lives on, and later it may."""


class ZygoteHandle:
    """A zygote that warms up from now on, and takes runs once `wait` has returned.

    `tier` says how high its walls are, `A`, `B` or `C`; empty as long as it warms up. With `room`, in bytes, it and its
    children together may use no more memory than that, where this machine has groups for it.
    """

    def __init__(self, room: int = 0) -> None:
        self.tier = ""
        self._group = memory.limited_group(room) if room else None
        self._log = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the zygote
        self._control, inner = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        joins = [] if self._group is None else [self._group.file]
        with inner:
            arguments = f"{inner.fileno()}, {(*joins, -1)[0]}"
            main = ("grader.sandbox.zygote", "main", arguments)
            self._process = start_apart(main, environment(), [inner.fileno(), *joins], self._log)
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
        self._control.settimeout(_REPLY_SECONDS)
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


class ProcessHandle:
    """A process that serves one run: its process descriptor, and the socket on which its zygote reports on it.

    The first reply on that comes with so many `descriptors`, the process's own first. `resident` is its resident set in
    bytes when its walls were up, 0 before: until then nothing of the student's runs. `before` is what it had used by
    then, None where nobody reads it.

    Raises:
        ZygoteLost: there is no reply.
        NotStarted: there can be no child now, or no descriptors here.
    """

    def __init__(self, report: socket.socket, *, descriptors: int = 1) -> None:
        self.report = report
        self.resident = 0
        self.before: Use | None = None
        self._pidfd, *self._ends = self._first_reply(descriptors)
        # The kernel's accounts of it, which remain its own after its end; anybody may read them.
        pid = self.number()
        names = ("schedstat", "statm", "status")
        self._times, self._pages, self._status = (_opened(f"/proc/{pid}/{name}") for name in names)

    def next_message(self) -> dict[str, Any] | None:
        """Read one message; return what the kernel said about the child's end, None as long as it lives."""
        message, _ = self._receive()
        return message if "status" in message else None

    def early_facts(self) -> dict[str, Any] | None:
        """Return what the kernel will say of a child that has done its work, None where one has to wait for its end."""
        return None

    def kill(self) -> None:
        """Kill the child; by descriptor, so that it can be nobody else."""
        with contextlib.suppress(ProcessLookupError):  # it was quicker
            signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)

    def number(self) -> int:
        """Return the child's process id out here, which is not the one that its zygote knows; -1 where nobody tells."""
        with contextlib.suppress(OSError):
            facts = Path(f"/proc/self/fdinfo/{self._pidfd}").read_text(encoding="ascii")
            return next((int(line.split()[1]) for line in facts.splitlines() if line.startswith("Pid:")), -1)
        return -1

    def used(self) -> Use:
        """Return what it has used up to now, of memory what no file backs; nothing once it has ended."""
        times, pages = _read(self._times).split(), _read(self._pages).split()
        return Use(
            seconds=int(times[0]) / 1e9 if times else 0.0,
            memory=(int(pages[1]) - int(pages[2])) * mmap.PAGESIZE if pages else 0,
        )

    def largest_resident(self) -> int | None:
        """Return the largest resident set that it has had, in bytes; None once it has ended, or where nobody tells."""
        _, found, rest = _read(self._status).partition(b"VmHWM:")
        return int(rest.split(maxsplit=1)[0]) << 10 if found else None

    def seconds_without_core(self) -> float:
        """Return how long the child could have run but other programs had the cores; 0 where nobody counts it."""
        times = _read(self._times).split()
        return int(times[1]) / 1e9 if len(times) > 1 else 0.0

    def close(self) -> None:
        """Close its descriptors."""
        self.report.close()
        for descriptor in (self._times, self._pages, self._status, self._pidfd):
            if descriptor >= 0:
                os.close(descriptor)

    def _first_reply(self, expected: int) -> list[int]:
        self.report.settimeout(_REPLY_SECONDS)
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


class ChildHandle(ProcessHandle):
    """A child that is locked in and waits for its job, until `begin`.

    `result` and `output` are the ends of its pipes that are read.
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
        widen(self.result)
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
        """Read one message, as for any child; what it used to get ready is not the student's."""
        end = super().next_message()
        if end is None:
            return None
        begun = b""
        if not self._ended:
            with contextlib.suppress(OSError):
                begun = self._line.recv(MESSAGE_BYTES)
        if not self._ended and begun != _START:  # which a child acknowledges when it is started
            raise ZygoteLost("a child died while it waited for its job")
        return {**end, "cpu": max(0.0, end["cpu"] - self._spent)}

    def early_facts(self) -> dict[str, Any] | None:
        """Return what the kernel will say of it; to end takes it as long as a call, and nobody has to wait for that.

        One that has much memory takes longer, and the next one may need the room.
        """
        used, resident = self.used(), self.largest_resident()
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

    def _said(self) -> str:
        os.set_blocking(self.output, False)
        with contextlib.suppress(BlockingIOError):
            return os.read(self.output, MESSAGE_BYTES).decode(errors="replace").strip() or "it died"
        return "it does not answer"


def _opened(path: str) -> int:
    try:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return -1


def _read(descriptor: int) -> bytes:
    try:
        return os.pread(descriptor, 4096, 0)
    except OSError:
        return b""


def _as_nice_as_we_are(pid: int) -> None:
    """Let a fresh session stand back as far as ours, where the kernel shares the cores out among sessions."""
    with contextlib.suppress(OSError, ValueError):  # most servers' kernels do not
        nice = Path("/proc/self/autogroup").read_text().rpartition(" ")[2]
        Path(f"/proc/{pid}/autogroup").write_text(nice)


def start_apart(
    main: tuple[str, str, str], variables: dict[str, str], passed: Sequence[int], log: IO[bytes]
) -> subprocess.Popen[bytes]:
    """Start a process that runs submissions, in a session of its own, with nothing of ours but what is `passed`.

    `main` is the module, its function, and the arguments as they are written in a call.
    """
    return subprocess.Popen(
        search_path.isolated(*main),
        env=variables,
        cwd="/",
        pass_fds=passed,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        start_new_session=True,
    )


def environment(home: str = _NOWHERE) -> dict[str, str]:
    """Return the whole environment of such a process: one thread for every library, no device, nothing of ours."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OMP_THREAD_LIMIT", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    places = dict.fromkeys(("HOME", "TMPDIR", "TORCHINDUCTOR_CACHE_DIR"), home)
    return {**threads, **places, "CUDA_VISIBLE_DEVICES": "", "LANG": "C.UTF-8", "PATH": "/usr/bin:/bin"}


def widen(pipe: int) -> None:
    """Let more lie in a pipe, which saves waking up."""
    with contextlib.suppress(OSError):  # the kernel may have none left to give
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
