"""The plain subprocess: the same protocol without walls, for one's own code on one's own machine, on any system.

Covered: the wall clock, the cap on prints, a crash. Not covered: everything else; the code can do what its owner can.
The job goes in by standard input, the answer comes out of standard output, prints out of standard error, because
those three pass to a subprocess everywhere.
"""

from __future__ import annotations

import contextlib
import os
import queue
import subprocess
import sys
import threading
import time
from typing import IO

from grader import search_path, stopping
from grader.box.cancel import CancelToken
from grader.box.drivers import carried
from grader.box.plan import Plan
from grader.box.run import Limits, Progress, Run
from grader.box.wire.job import encode_job
from grader.errors import GraderFault
from grader.sandbox import interior, outcome
from grader.sandbox.outcome import Facts, Intake

READY = b"\n"
_START_SECONDS = 120.0  # torch's first import from a cold disk
_DYING_SECONDS = 1.0
_CHUNK = 1 << 16


class PlainBox:
    """Runs plans in a fresh subprocess each, without walls; it says so in its name."""

    name = "plain subprocess, no sandbox"

    def run(
        self,
        plan: Plan,
        source: str,
        limits: Limits,
        progress: Progress | None = None,
        *,
        cancel: CancelToken | None = None,
    ) -> Run:
        """Run `plan` on the entry point defined by `source`; the subprocess is dead when this returns.

        Only the limits on wall time and prints are kept.

        Raises:
            Stopped: it was cancelled.
            GraderFault: the subprocess did not start.
        """
        cancel = cancel or CancelToken()
        process = subprocess.Popen(
            search_path.isolated("grader.sandbox.plain", "be_the_child"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        with process, cancel.on_cancel(process.kill), stopping.ending_first(process.kill):
            try:
                run = _Errand(process, plan, limits, progress).watch(encode_job(plan, source, carried(plan)))
            finally:
                process.kill()
                cancel.check()
        return run


class _Errand:
    def __init__(self, process: subprocess.Popen[bytes], plan: Plan, limits: Limits, progress: Progress | None) -> None:
        self._process = process
        self._limits = limits
        self._intake = Intake(plan, limits, progress)
        self._open = 2
        self._pieces: queue.Queue[tuple[bool, bytes]] = queue.Queue(maxsize=64)  # printed or answered; empty: the end

    def watch(self, job: bytes) -> Run:
        """Hand over the job once the subprocess is ready, and watch it to its end."""
        assert self._process.stdin
        assert self._process.stdout
        assert self._process.stderr
        threading.Thread(target=self._pump, args=(self._process.stderr, True), daemon=True).start()
        self._wait_until_ready(self._process.stdout)
        threading.Thread(target=self._pump, args=(self._process.stdout, False), daemon=True).start()
        threading.Thread(target=_hand_over, args=(self._process.stdin, job), daemon=True).start()
        started = time.monotonic()
        late = not self._listen(started + self._limits.wall_seconds)
        self._process.kill()
        self._drain()
        intake, code = self._intake, self._process.wait()
        facts = Facts(intake.finished, intake.broken, intake.overflow, late=late, code=code)
        ending, detail = outcome.ending(facts, self._limits)
        seconds = time.monotonic() - started
        return Run(intake.observations(), ending=ending, detail=detail, output=intake.text(), wall_seconds=seconds)

    def _wait_until_ready(self, answers: IO[bytes]) -> None:
        clock = threading.Timer(_START_SECONDS, self._process.kill)
        clock.start()
        ready = answers.read(len(READY))
        clock.cancel()
        if ready != READY:
            self._open = 1
            self._drain()
            raise GraderFault(f"the subprocess for the submission did not start: {self._intake.text()}")

    def _listen(self, deadline: float) -> bool:
        """Take pieces until there is a reason to stop; return False where that is the deadline."""
        while self._open and not self._intake.broken and not self._intake.overflow:
            try:
                self._take(*self._pieces.get(timeout=max(0.0, deadline - time.monotonic())))
            except queue.Empty:
                return self._intake.finished
        return True

    def _drain(self) -> None:
        """Take what a dead subprocess left; one of its own children may hold the pipes open, so not for ever."""
        with contextlib.suppress(queue.Empty):
            while self._open:
                self._take(*self._pieces.get(timeout=_DYING_SECONDS))

    def _take(self, printed: bool, data: bytes) -> None:
        self._open -= not data
        (self._intake.take_output if printed else self._intake.take_answer)(data)

    def _pump(self, pipe: IO[bytes], printed: bool) -> None:
        """Move what comes out of a pipe into the queue; a full queue makes the subprocess wait."""
        data = b"start"
        while data:
            try:
                data = os.read(pipe.fileno(), _CHUNK)
            except (OSError, ValueError):  # closed under us: the run is over
                data = b""
            self._pieces.put((printed, data))


def _hand_over(pipe: IO[bytes], job: bytes) -> None:
    try:
        with pipe:
            pipe.write(job)
    except OSError:  # it ended without reading; how it ended says more
        return


def be_the_child() -> None:
    """Be the subprocess: keep standard output for the answer alone, then do the child's duty and end."""
    job, result = os.dup(0), os.dup(1)
    if sys.platform == "win32":  # it would change line ends inside tensors
        import msvcrt

        for descriptor in (job, result):
            msvcrt.setmode(descriptor, os.O_BINARY)
    os.dup2(2, 1)
    os.close(0)
    interior.skip_compilation()
    interior.furnish(output=2)
    os.write(result, READY)
    os._exit(interior.perform(job, result))
