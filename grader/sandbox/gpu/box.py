"""The box of a device: runs a plan on a stranger's source text in a worker that serves this one run."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Self

from grader.box.cancel import CancelToken
from grader.box.drivers import carried
from grader.box.plan import Plan
from grader.box.run import Ending, Limits, Progress, Run
from grader.box.wire.job import encode_job
from grader.errors import SandboxUnavailable
from grader.sandbox.gpu import NAMES
from grader.sandbox.gpu.pool import Pool
from grader.sandbox.handles import ZygoteLost
from grader.sandbox.run_monitor import RunMonitor

Meter = Callable[[int], int | None]  # bytes of the device's memory that a process has, None where nobody can say

_LOOK_SECONDS = 0.02
_SLACK = 64 << 20  # bytes of device memory beside what was reserved: the driver's own
_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


class DeviceBox:
    """Runs plans on one device, each in a worker of its own; safe to use from several threads.

    Starting returns at once, with workers on their way. A run waits for one if none is ready.
    """

    def __init__(self, device: str, *, workers: int = 1) -> None:
        self.device = device
        self.name = NAMES[device]
        self.pool = Pool(device, workers)
        self._meter = find_meter(device)

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
            return self._attempt(job, RunMonitor(plan, limits, progress, cancel), limits)
        except ZygoteLost:
            return self._attempt(job, RunMonitor(plan, limits, progress, cancel), limits)

    def close(self) -> None:
        """End every worker that has no job."""
        self.pool.close()

    def __enter__(self) -> DeviceBox:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _attempt(self, job: bytes, monitor: RunMonitor, limits: Limits) -> Run:
        with closing(self.pool.take()) as worker:
            watch = MemoryWatch(worker.pid, limits, worker.kill, self._meter)
            worker.hand_over(job)
            with watch:
                run = monitor.watch(worker, result=worker.result, output=worker.output)
        if watch.why is None or run.ending is Ending.FINISHED:
            return run
        ending, detail = watch.why
        return replace(run, ending=ending, detail=detail)


class MemoryWatch:
    """Watches from outside what a worker uses, where the kernel cannot be told to; kills one that takes too much.

    It looks fifty times a second for the length of a block: what a process takes in between is over its budget for
    that long. `why` is set where it killed: how the run ended, and a word for the student.
    """

    def __init__(self, pid: int, limits: Limits, kill: Callable[[], None], meter: Meter) -> None:
        self.why: tuple[Ending, str] | None = None
        self._pid = pid
        self._limits = limits
        self._kill = kill
        self._meter = meter
        self._resident, self._seconds, self._device = resident(pid), processor_seconds(pid), meter(pid)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look_on, daemon=True, name="worker watch")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _look_on(self) -> None:
        while not self._over.wait(_LOOK_SECONDS):
            self.why = self._excess()
            if self.why is not None:
                self._kill()
                return

    def _excess(self) -> tuple[Ending, str] | None:
        if resident(self._pid) - self._resident > self._limits.memory_bytes:
            return Ending.MEMORY, f"more than {self._limits.memory_bytes >> 20} MiB"
        if processor_seconds(self._pid) - self._seconds > self._limits.cpu_seconds:
            return Ending.TIMEOUT, f"more than {self._limits.cpu_seconds:g} s of processor time"
        used = self._meter(self._pid) if self._device is not None else None
        if used is not None and self._device is not None and used > self._device + _SLACK:
            return Ending.MEMORY, "more of the device's memory than was set aside for it"
        return None


def resident(pid: int) -> int:
    """Return the resident set of process `pid`, in bytes; 0 once it is gone."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def processor_seconds(pid: int) -> float:
    """Return the processor time of process `pid`, all threads together; 0 once it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / _TICKS


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
