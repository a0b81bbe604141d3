"""Keeps workers warm and closed in; each serves one run, and when one is taken the next one starts."""

from __future__ import annotations

import json
import os
import select
import shutil
import socket
import subprocess
import tempfile
import threading
from collections import deque
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from typing import IO, Any

from grader import search_path
from grader.errors import GraderFault
from grader.sandbox import handles
from grader.sandbox.handles import ProcessHandle, ZygoteLost

RESERVE_BYTES = 1 << 30  # of the device's memory, for each worker
_TRIES = 3  # idle workers that may be found dead before something else must be wrong
_GREETING_SECONDS = 60.0
_WARM_SECONDS = 240.0  # a driver that loads all of its kernels, from a cold disk
_BEGIN_SECONDS = 10.0
# A driver's own switches. EAGER: every kernel is loaded while files can still be read. No cache of compiled kernels:
# it would be written to a home. The bus's order: the management library counts GPUs so. A fixed workspace: the same
# sums come out in the same order each time.
_DRIVER: Mapping[str, str] = {
    "CUDA_MODULE_LOADING": "EAGER",
    "CUDA_CACHE_DISABLE": "1",
    "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
    "CUBLAS_WORKSPACE_CONFIG": ":4096:8",
}


class Pool:
    """Workers for one device, `size` of them ready or on their way; safe to use from several threads.

    `device` is `cuda`, or `cpu` for a worker with the same walls and no driver. Each takes its part of the device's
    memory while it waits.
    """

    def __init__(self, device: str, size: int) -> None:
        self.device = device
        self.size = size
        self._scratch = tempfile.mkdtemp(prefix="grader-worker-")
        self._lock = threading.Lock()
        self._starting: set[Launched] = set()
        self._closed = False
        self._executor = ThreadPoolExecutor(size, thread_name_prefix="worker start")
        self._coming = deque(self._executor.submit(self._start) for _ in range(size))

    def take(self) -> GpuWorker:
        """Return a worker that is ready, waiting for one if need be; it is the caller's to close.

        Raises:
            GraderFault: no worker gets ready.
        """
        for _ in range(_TRIES):
            with self._lock:
                self._check_open()
                self._coming.append(self._executor.submit(self._start))
                coming = self._coming.popleft()
            worker = coming.result()
            if worker.alive():
                return worker
            worker.close()
        raise GraderFault(f"{_TRIES} workers for {self.device} died while they waited for a job")

    def wait(self) -> None:
        """Wait until every worker that is on its way is ready.

        Raises:
            GraderFault: one does not get ready.
        """
        with self._lock:
            coming = list(self._coming)
        for one in coming:
            one.result()

    def close(self) -> None:
        """End every worker that was not taken, and start no more."""
        with self._lock:
            self._closed = True
            for launched in self._starting:
                launched.process.kill()  # the guardian's end is the worker's
            coming, self._coming = list(self._coming), deque()
        self._executor.shutdown(cancel_futures=True)
        for one in coming:
            if not one.cancelled() and one.exception() is None:
                one.result().close()
        shutil.rmtree(self._scratch, ignore_errors=True)

    def _start(self) -> GpuWorker:
        with self._lock:
            self._check_open()
            launched = launch(self.device, scratch=self._scratch)
            self._starting.add(launched)
        try:
            return GpuWorker(launched)
        finally:
            with self._lock:
                self._starting.discard(launched)

    def _check_open(self) -> None:
        if self._closed:
            raise GraderFault(f"the workers for {self.device} were closed")


@dataclass(frozen=True, slots=True)
class Launched:
    """A process on its way, and our ends of what leads to it; `close` ends it."""

    process: subprocess.Popen[bytes]
    report: socket.socket
    job: IO[bytes]
    result: int
    output: int
    log: IO[bytes]

    def said(self) -> str:
        """Return what it wrote while it warmed up, which is ours and no student's."""
        self.log.seek(0)
        return self.log.read().decode(errors="replace").strip()

    def close(self) -> None:
        """Close every end; the guardian then ends the worker, and itself."""
        self.report.close()
        self.job.close()
        for descriptor in (self.result, self.output):
            os.close(descriptor)
        self.process.wait()
        self.log.close()


class GpuWorker(ProcessHandle):
    """One worker as its runner sees it, once it is warm and closed in: hand it its one job, end it.

    `facts` is what it said of itself then, `pid` its number out here; `result` and `output` are the ends of its pipes
    that are read.

    Raises:
        ZygoteLost: it ended on the way; the text holds what it said.
    """

    def __init__(self, launched: Launched) -> None:
        self._launched, self.result, self.output = launched, launched.result, launched.output
        self.facts: dict[str, Any] = {}
        select.select([launched.report], [], [], _GREETING_SECONDS)
        try:
            super().__init__(launched.report)
        except GraderFault:
            launched.close()
            raise
        self.pid = self.number()
        self.report.settimeout(_WARM_SECONDS)
        try:
            while not self.resident:
                message, _ = self._receive()
                if "status" in message:
                    raise ZygoteLost(f"a worker did not get ready: {launched.said() or message}")
                self.facts = message
        except ZygoteLost:
            self.close()
            raise

    def alive(self) -> bool:
        """Return whether it still waits for its job; one that was killed meanwhile has said so."""
        return not select.select([self.report], [], [], 0)[0]

    def hand_over(self, job: bytes) -> None:
        """Give it its one job, and return when it has begun to read it; nothing of the student's runs before that.

        Raises:
            ZygoteLost: it died while it waited.
        """
        handles.widen(self._launched.job.fileno())
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
        super().close()
        self._launched.close()


def launch(device: str, *, scratch: str) -> Launched:
    """Start a worker for `device`; what it says of itself comes on its report socket."""
    log = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the worker
    with ExitStack() as theirs:
        near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        theirs.enter_context(far)
        job, our_job = os.pipe()
        our_result, result = os.pipe()
        our_output, output = os.pipe()
        for descriptor in (job, result, output):
            theirs.callback(os.close, descriptor)
        files = {"job": job, "result": result, "output": output, "report": far.fileno()}
        orders = json.dumps({**files, "device": device, "reserve": RESERVE_BYTES})
        command = search_path.isolated("grader.sandbox.gpu.worker", "main", repr(orders))
        process = handles.start_apart(command, environment(device, scratch), tuple(files.values()), log)
    return Launched(process, near, open(our_job, "wb", buffering=0), our_result, our_output, log)


def environment(device: str, scratch: str) -> dict[str, str]:
    """Return a worker's whole environment: that of a zygote, and one device."""
    return {**handles.environment(scratch), "CUDA_VISIBLE_DEVICES": "0" if device == "cuda" else "", **_DRIVER}
