"""The box of a device: runs a plan on a stranger's source text in a worker that serves this one run.

Workers are kept warm and closed in; when one is taken, the next one starts.
"""

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
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any

from grader.box.cancel import CancelToken
from grader.box.drivers import carried
from grader.box.plan import Plan
from grader.box.run import Limits, Progress, Run
from grader.box.wire.job import encode_job
from grader.errors import GraderFault, SandboxUnavailable
from grader.sandbox import handles
from grader.sandbox.gpu import NAMES
from grader.sandbox.handles import ProcessHandle, Use, ZygoteLost
from grader.sandbox.run_monitor import RunMonitor

Meter = Callable[[int], int | None]  # bytes of the device's memory that a process has, None where nobody can say

RESERVE_BYTES = 1 << 30  # of the device's memory, for each worker
_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
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


class DeviceBox:
    """Runs plans on one device, each in a worker of its own; safe to use from several threads.

    Starting returns at once, with workers on their way. A run waits for one if none is ready.
    """

    def __init__(self, device: str, *, workers: int = 1) -> None:
        self.device = device
        self.name = NAMES[device]
        self.pool = Pool(device, workers)

    def run(
        self,
        plan: Plan,
        source: str,
        limits: Limits,
        progress: Progress | None = None,
        *,
        cancel: CancelToken | None = None,
    ) -> Run:
        """Run `plan` on the entry point defined by `source`; the worker is dead when this returns.

        Raises:
            GraderFault: the machinery failed twice in a row.
            SandboxUnavailable: the plan wants another device.
        """
        if plan.device != self.device:
            raise SandboxUnavailable(f"these workers run on {self.device} only, not on {plan.device}")
        job = encode_job(plan, source, carried(plan))
        try:
            return self._attempt(job, RunMonitor(plan, limits, progress, cancel))
        except ZygoteLost:
            return self._attempt(job, RunMonitor(plan, limits, progress, cancel))

    def close(self) -> None:
        """End every worker that has no job."""
        self.pool.close()

    def __enter__(self) -> DeviceBox:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _attempt(self, job: bytes, monitor: RunMonitor) -> Run:
        with closing(self.pool.take()) as worker:
            worker.hand_over(job)
            return monitor.watch(worker, result=worker.result, output=worker.output)


class Pool:
    """Workers for one device, `size` of them ready or on their way; safe to use from several threads.

    `device` is `cuda`, or `cpu` for a worker with the same walls and no driver. Each takes its part of the device's
    memory while it waits.
    """

    def __init__(self, device: str, size: int) -> None:
        self.device = device
        self.size = size
        self._meter = find_meter(device)
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
            return GpuWorker(launched, self._meter)
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

    def __init__(self, launched: Launched, meter: Meter) -> None:
        self._meter = meter
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
        self.before = self.used()

    def used(self) -> Use:
        """Return what it has used up to now, all threads together; nothing once it has ended.

        Its whole resident set counts: a driver maps its memory in ways that are not anonymous.
        """
        try:
            times = Path(f"/proc/{self.pid}/stat").read_bytes().rpartition(b")")[2].split()
            pages = Path(f"/proc/{self.pid}/statm").read_bytes().split()
        except OSError:
            return Use()
        seconds = (int(times[11]) + int(times[12])) / _TICKS
        return Use(seconds, int(pages[1]) * os.sysconf("SC_PAGE_SIZE"), self._meter(self.pid) or 0)

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
        main = ("grader.sandbox.gpu.worker", "main", repr(orders))
        process = handles.start_apart(main, environment(device, scratch), tuple(files.values()), log)
    return Launched(process, near, open(our_job, "wb", buffering=0), our_result, our_output, log)


def environment(device: str, scratch: str) -> dict[str, str]:
    """Return a worker's whole environment: that of a zygote, and one device."""
    return {**handles.environment(scratch), "CUDA_VISIBLE_DEVICES": "0" if device == "cuda" else "", **_DRIVER}


def find_meter(device: str) -> Meter:
    """Return what says how much of the device's memory a process has; one that knows nothing where nobody does.

    NVIDIA's management library is asked, which creates no context.
    """
    if device == "cuda":
        import pynvml  # type: ignore[import-untyped]  # here: only a machine with a GPU needs it

        try:
            pynvml.nvmlInit()
            return partial(_used_by, pynvml.nvmlDeviceGetHandleByIndex(0))
        except pynvml.NVMLError:
            pass
    return lambda _pid: None


def _used_by(gpu: Any, pid: int) -> int | None:
    """Return the bytes of the GPU that process `pid` has taken, None where the driver does not say.

    It does not in a container that cannot see its host's process numbers, nor for a slice of a GPU (MIG).
    """
    import pynvml

    processes = pynvml.nvmlDeviceGetComputeRunningProcesses(gpu)
    used: list[int | None] = [process.usedGpuMemory for process in processes if process.pid == pid]
    return next((size for size in used if size is not None), None)
