"""Keeps workers warm and closed in; each serves one run, and when one is taken the next one starts."""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor

from grader.errors import GraderFault
from grader.sandbox.gpu.launch import Launched, launch
from grader.sandbox.gpu.worker_handle import GpuWorker
from grader.sandbox.process_handle import ZygoteLost

RESERVE_BYTES = 1 << 30  # of the device's memory, for each worker
_TRIES = 3  # idle workers that may be found dead before something else must be wrong


class Pool:
    """Workers for one device, `size` of them ready or on their way; safe to use from several threads.

    Attributes:
        device: `cuda`, or `cpu` for a worker with the same walls and no driver.
        size: how many wait for a job. Each takes its part of the device's memory while it waits.
    """

    def __init__(self, device: str, size: int, *, reserve_bytes: int = RESERVE_BYTES) -> None:
        self.device = device
        self.size = size
        self._reserve = reserve_bytes
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
            worker = self._next().result()
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

    def _next(self) -> Future[GpuWorker]:
        with self._lock:
            if self._closed:
                raise GraderFault(f"the workers for {self.device} were closed")
            self._coming.append(self._executor.submit(self._start))
            return self._coming.popleft()

    def _start(self) -> GpuWorker:
        with self._lock:
            if self._closed:
                raise GraderFault(f"the workers for {self.device} were closed")
            launched = launch(self.device, reserve_bytes=self._reserve, scratch=self._scratch)
            self._starting.add(launched)
        try:
            return _warmed(launched)
        finally:
            with self._lock:
                self._starting.discard(launched)


def _warmed(launched: Launched) -> GpuWorker:
    try:
        worker = GpuWorker(launched)
    except ZygoteLost:
        launched.close()
        raise
    try:
        worker.wait()
    except ZygoteLost:
        worker.close()
        raise
    return worker
