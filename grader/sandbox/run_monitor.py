"""Monitors one run: reads the answer and the prints, enforces the limits, and kills the child.

The limits of a process are not exact against code that knows how they are counted. RLIMIT_CPU counts whole ticks: a
child that sleeps at each tick is never charged. RLIMIT_AS counts addresses: a child that unmaps the libraries that it
was forked with may fill their place with memory of its own. The scheduler's run time and the number of anonymous pages
cannot be argued with, so they are looked at while it runs.

Not covered: pages that no process maps any more, such as those of shared memory; the filter has to forbid making them.
"""

from __future__ import annotations

import contextlib
import os
import select
import time
from collections.abc import Callable, Mapping
from typing import Any

from grader.box.cancel import CancelToken
from grader.box.plan import Plan
from grader.box.run import STARVED_FACTOR, Ending, Limits, Progress, Run
from grader.sandbox import outcome
from grader.sandbox.handles import ProcessHandle, Use, ZygoteLost
from grader.sandbox.memory import kernel_kills
from grader.sandbox.outcome import Facts, Intake

_CHUNK = 1 << 18
_DYING_SECONDS = 5.0
_WORTH_WAITING = 0.01  # seconds
# Seconds between two looks while most of the answer is still to come. Fifty frames come within thirty milliseconds;
# whoever wakes for each of them takes the interpreter and the core fifty times from whoever else works.
_BREATH, _LAST_BREATH = 0.005, 0.001
_NEARLY_ALL = 0.8  # of the events that a plan can have
_LOOK_SECONDS = 0.02  # between two looks at the memory, of which a core touches some 40 MiB meanwhile
_LEAST_SECONDS = 0.002  # between any two looks
_DEVICE_SLACK = 64 << 20  # bytes of a device's memory beside what was reserved: the driver's own
_MARGIN = 16  # a sixteenth more memory than allowed: libraries have private pages too, which a write makes anonymous


class Meter:
    """Holds the use of one child against its limits; `spent`, `hoarded` and `overdrawn` say which one it exceeds.

    It counts from `before` on, which is none of the run's.
    """

    def __init__(self, limits: Limits, before: Use) -> None:
        self._seconds = before.seconds + limits.cpu_seconds
        self._memory = before.memory + limits.memory_bytes + limits.memory_bytes // _MARGIN
        self._device = before.device + _DEVICE_SLACK
        self.spent = self.hoarded = self.overdrawn = False

    def look(self, use: Use) -> float:
        """Take note of a child's use; return in how many seconds to look again.

        A process with one thread cannot use more processor time than passes meanwhile, so what is left of it says when
        the limit can be reached at the earliest.
        """
        self.spent = use.seconds >= self._seconds
        self.hoarded = use.memory > self._memory
        self.overdrawn = use.device > self._device
        return max(_LEAST_SECONDS, min(_LOOK_SECONDS, self._seconds - use.seconds))


class RunMonitor:
    """Watches one child until it is dead; `watch` returns the run.

    `kills` is how many processes the kernel had ended for lack of memory before; None: nobody counts.
    """

    def __init__(self, plan: Plan, limits: Limits, progress: Progress | None, cancel: CancelToken | None) -> None:
        self._limits = limits
        self._cancel = cancel or CancelToken()
        self._intake = Intake(plan, limits, progress)
        self._many = _NEARLY_ALL * (len(plan.calls) + len(plan.builds))
        self._late = False
        self._killed = False
        self._meter: Meter | None = None
        self.kills = kernel_kills()
        self._started = 0.0
        self._deadline = self._look_at = 0.0
        self._granted = 0.0

    def watch(self, child: ProcessHandle, *, result: int, output: int) -> Run:
        """Watch `child` to its end, whatever ends it; one whose answer is whole is killed, and not waited for.

        Args:
            result, output: the read ends of its pipes.

        Raises:
            Stopped: the run was cancelled.
            ZygoteLost: the machinery went away under the run.
        """
        self._started = time.monotonic()
        self._meter = Meter(self._limits, child.before) if child.before is not None else None
        try:
            with self._cancel.on_cancel(child.kill):
                end = self._until_dead(child, result, output)
        finally:
            child.kill()
        self._cancel.check()
        finished = self._intake.finished
        facts = Facts(
            finished=finished,
            broken=self._intake.broken,
            overflow=self._intake.overflow,
            late=self._late,
            spent=self._meter is not None and self._meter.spent,
            hoarded=self._meter is not None and self._meter.hoarded,
            overdrawn=self._meter is not None and self._meter.overdrawn,
            ended=self._killed,
            code=os.waitstatus_to_exitcode(end["status"]),
            cpu_seconds=end["cpu"],
            wall_seconds=time.monotonic() - self._started,
            grown_bytes=end["resident"] - child.resident,
            short=not finished and (self.kills is None or kernel_kills() != self.kills),
        )
        ending, detail = outcome.ending(facts, self._limits)
        return Run(
            observations=self._intake.observations(),
            ending=ending,
            detail=detail,
            output=self._intake.text(),
            wall_seconds=time.monotonic() - self._started,
            cpu_seconds=end["cpu"],
            memory_bytes=end["resident"],
            grown_bytes=facts.grown_bytes,
            killed=ending is Ending.MEMORY and not outcome.explained(facts, self._limits),
        )

    def _until_dead(self, child: ProcessHandle, result: int, output: int) -> dict[str, Any]:
        takers = {output: self._take_output, result: self._take_result}  # in this order, so that a flood is a flood
        poller = select.poll()
        for descriptor in (*takers, child.report.fileno()):
            os.set_blocking(descriptor, False)
            poller.register(descriptor, select.POLLIN)
        self._deadline = time.monotonic() + self._limits.wall_seconds
        while True:
            ready = {descriptor for descriptor, _ in poller.poll(1000 * self._patience(child))}
            for descriptor in [known for known in takers if known in ready]:
                if takers[descriptor](descriptor):
                    poller.unregister(descriptor)
            if child.report.fileno() in ready and (end := child.next_message()) is not None:
                self._drain(takers)
                return end
            if self._intake.finished and (end := child.early_facts()) is not None:
                child.kill()  # first: one that goes on writing must not be read for as long as it does
                self._drain(takers)
                return end
            self._enforce(child)
            if not self._killed:
                time.sleep(_BREATH if self._intake.events < self._many else _LAST_BREATH)

    def _patience(self, child: ProcessHandle) -> float:
        """Return in how many seconds to look at the latest; where it is time, take note of what the child has used."""
        now = time.monotonic()
        left = max(0.0, self._deadline - now)
        if self._meter is None or self._killed:
            return left
        if now >= self._look_at:
            self._look_at = now + self._meter.look(child.used())
        return min(left, max(0.0, self._look_at - now))

    def _enforce(self, child: ProcessHandle) -> None:
        """Kill the child where it is done, broke a rule or ran out of time."""
        if self._killed:
            if time.monotonic() > self._deadline:
                raise ZygoteLost(f"a run did not end within {_DYING_SECONDS:g} s of being killed")
            return
        done = self._intake.finished or self._intake.broken or self._intake.overflow
        over = self._meter is not None and (self._meter.spent or self._meter.hoarded or self._meter.overdrawn)
        if not done and not over:
            if time.monotonic() < self._deadline or self._starved(child):
                return
            self._late = True
        self._killed = True
        self._deadline = time.monotonic() + _DYING_SECONDS
        child.kill()

    def _starved(self, child: ProcessHandle) -> bool:
        """Extend the deadline by the time in which other programs had the cores: that is our load, not their code."""
        allowed = min(child.seconds_without_core(), (STARVED_FACTOR - 1) * self._limits.wall_seconds)
        missing = allowed - self._granted
        if missing < _WORTH_WAITING:
            return False
        self._granted = allowed
        self._deadline += missing
        return True

    def _take_result(self, descriptor: int) -> bool:
        """Take what is there of the answer; return whether it ended, with its last frame or with the pipe."""
        if self._intake.finished:
            return True
        chunk = os.read(descriptor, _CHUNK)
        self._intake.take_answer(chunk)
        return not chunk

    def _take_output(self, descriptor: int) -> bool:
        """Take what is there of the prints; return whether they ended, or are too many."""
        chunk = os.read(descriptor, _CHUNK)
        self._intake.take_output(chunk)
        return not chunk or self._intake.overflow

    def _drain(self, takers: Mapping[int, Callable[[int], bool]]) -> None:
        """Take what a child that is dead, or about to be, left in its pipes."""
        for descriptor, take in takers.items():
            with contextlib.suppress(BlockingIOError):  # the zygote may hold the other end a moment longer
                while not take(descriptor):
                    continue
