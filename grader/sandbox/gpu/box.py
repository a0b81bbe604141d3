"""The box of a device: runs a plan on a stranger's source text in a worker that serves this one run."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

from grader.box.cancel import CancelToken
from grader.box.drivers import carried
from grader.box.plan import Plan
from grader.box.run import Ending, Limits, Progress, Run
from grader.box.wire.job import encode_job
from grader.errors import SandboxUnavailable
from grader.sandbox.gpu.names import NAMES
from grader.sandbox.gpu.pool import RESERVE_BYTES, Pool
from grader.sandbox.gpu.watch import MemoryWatch, Meter
from grader.sandbox.process_handle import ZygoteLost
from grader.sandbox.run_monitor import RunMonitor


class DeviceBox:
    """Runs plans on one device, each in a worker of its own; safe to use from several threads.

    Starting returns at once, with workers on their way. A run waits for one if none is ready.
    """

    def __init__(
        self, device: str, *, workers: int = 1, reserve_bytes: int = RESERVE_BYTES, meter: Meter | None = None
    ) -> None:
        self.device = device
        self.name = NAMES[device]
        self.pool = Pool(device, workers, reserve_bytes=reserve_bytes)
        self._meter = meter or find_meter(device)

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


def find_meter(device: str) -> Meter:
    """Return what says how much of the device's memory a process has; one that knows nothing where nobody does."""
    if device != "cuda":
        return _nobody_knows
    from grader.sandbox.gpu.nvml import memory_meter  # here: only a machine with a GPU needs it

    return memory_meter() or _nobody_knows


def _nobody_knows(_pid: int) -> int | None:
    return None
