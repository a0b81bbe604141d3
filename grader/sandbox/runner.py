"""The sandbox: runs a plan on a stranger's source text, in a locked-in child of a warm zygote."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

from grader.box.cancel import CancelToken
from grader.box.drivers import carried
from grader.box.plan import Plan
from grader.box.run import Limits, Progress, Run
from grader.box.wire.job import encode_job
from grader.errors import GraderFault, Killed, SandboxUnavailable
from grader.sandbox.handles import ZygoteHandle, ZygoteLost
from grader.sandbox.memory import kernel_kills
from grader.sandbox.run_monitor import RunMonitor

LOG = logging.getLogger(__name__)

_RENEWAL_SECONDS = 24 * 3600.0


class Sandbox:
    """Runs plans behind walls; safe to use from several threads, each run in a child of its own.

    Starting takes the seconds that importing torch takes, less those for which `zygote` has been warming up; a run
    after that takes tens of milliseconds. A zygote that died is replaced by the next run, and the run that it took
    down is repeated once. A zygote that is a day old is replaced after the next run that leaves nothing else running.
    `room` is the memory in bytes for a zygote and its children together, 0 for no limit over all of them.
    """

    def __init__(
        self, zygote: ZygoteHandle | None = None, *, room: int = 0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._lock = threading.Lock()
        self._closed = False
        self._clock = clock
        self._renewed = clock()
        self._room = room
        self._zygote = (zygote or ZygoteHandle(room)).wait()
        self._leases: Counter[ZygoteHandle] = Counter()  # runs under way, by zygote
        self.tier = self._zygote.tier
        self.name = f"sandbox (tier {self.tier}{', one wall only' if self.tier == 'C' else ''})"

    def run(
        self,
        plan: Plan,
        source: str,
        limits: Limits,
        progress: Progress | None = None,
        *,
        cancel: CancelToken | None = None,
    ) -> Run:
        """Run `plan` on the entry point defined by `source`; the child is dead when this returns, or about to be.

        Raises:
            Killed: the kernel ended the zygote twice in a row, for lack of memory.
            GraderFault: the machinery failed twice in a row, or the machine has no room for a child now.
            SandboxUnavailable: the plan wants another device than the CPU, which would need an open door to a driver.
        """
        if plan.device != "cpu":
            raise SandboxUnavailable(f"the sandbox grades on the CPU only; it has no door to {plan.device}")
        job, monitor = encode_job(plan, source, carried(plan)), RunMonitor(plan, limits, progress, cancel)
        kills = monitor.kills
        with self._lease() as zygote:
            try:
                return _attempt(zygote, job, monitor, limits)
            except ZygoteLost:
                self._replace(zygote)
        with self._lease() as zygote:
            try:
                return _attempt(zygote, job, RunMonitor(plan, limits, progress, cancel), limits)
            except ZygoteLost as lost:
                if zygote.was_killed() and (kills is None or kernel_kills() != kills):
                    raise Killed("the kernel ended the sandbox's zygote twice, for lack of memory") from lost
                raise

    def check(self, limits: Limits) -> None:
        """Look whether this machine allows a run with these limits.

        Raises:
            SandboxUnavailable: it does not; the text says which limit has to be raised.
            GraderFault: no child got ready.
        """
        with self._lease() as zygote, closing(zygote.start(limits)) as child:
            child.get_ready()

    def renew(self) -> None:
        """Put a fresh zygote in the place of the present one; runs under way finish where they are.

        All children of one zygote share their address layout and hash seed, so none should serve for long.
        """
        fresh = self._another()
        with self._lock:
            old, self._zygote = (fresh, self._zygote) if self._closed else (self._zygote, fresh)
            busy = self._leases[old]
        if not busy:
            old.close()

    def close(self) -> None:
        """End the zygote and every run that is under way."""
        with self._lock:
            self._closed = True
            for zygote in {self._zygote, *self._leases}:
                zygote.close()

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _lease(self) -> Iterator[ZygoteHandle]:
        """Lend the present zygote; one that was renewed meanwhile ends with its last run."""
        with self._lock:
            zygote = self._zygote
            self._leases[zygote] += 1
        try:
            yield zygote
        finally:
            with self._lock:
                self._leases -= Counter([zygote])  # which leaves out those without a run
                if zygote not in self._leases and zygote is not self._zygote:
                    zygote.close()
                due = not self._leases and self._clock() - self._renewed >= _RENEWAL_SECONDS
                self._renewed = self._clock() if due else self._renewed
            if due:
                threading.Thread(target=self._renew_in_the_background, daemon=True, name="zygote renewal").start()

    def _renew_in_the_background(self) -> None:
        try:
            self.renew()
        except GraderFault as fault:
            LOG.warning("the sandbox keeps its old zygote for another day: %s", fault)

    def _replace(self, lost: ZygoteHandle) -> None:
        """Put a new zygote in the place of `lost`, unless another thread has done so already."""
        with self._lock:
            if self._closed:
                raise GraderFault("the sandbox was closed while a run was under way")
            if self._zygote is lost:
                LOG.warning("the sandbox lost its zygote during a run; another one takes its place")
                lost.close()
                self._zygote = self._another()

    def _another(self) -> ZygoteHandle:
        """Start a zygote behind walls that are as high as the first one's; the machine may have lost one meanwhile."""
        zygote = ZygoteHandle(self._room).wait()
        if zygote.tier > self.tier:  # later in the alphabet is lower
            zygote.close()
            raise SandboxUnavailable(f"a new zygote has tier {zygote.tier} only, where the sandbox had {self.tier}")
        return zygote


def _attempt(zygote: ZygoteHandle, job: bytes, monitor: RunMonitor, limits: Limits) -> Run:
    with closing(zygote.start(limits)) as child:
        child.begin(job)
        return monitor.watch(child, result=child.result, output=child.output)
