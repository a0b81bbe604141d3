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
from dataclasses import dataclass
from typing import IO

from grader import search_path, stopping
from grader.box.cancel import CancelToken
from grader.box.drivers import carried
from grader.box.observations import CallSeen, Observations
from grader.box.places import without_places
from grader.box.plan import Plan
from grader.box.run import Ending, Limits, Progress, Run
from grader.box.wire.answer import FrameReader
from grader.box.wire.job import encode_job
from grader.errors import BadAnswer, GraderFault
from grader.sandbox import interior, outcome
from grader.sandbox.no_compiler import skip_compilation

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


@dataclass(frozen=True, slots=True)
class _Piece:
    """Bytes from one of the two pipes; empty: the pipe ended."""

    printed: bool
    data: bytes


class _Errand:
    def __init__(self, process: subprocess.Popen[bytes], plan: Plan, limits: Limits, progress: Progress | None) -> None:
        self._process = process
        self._limits = limits
        self._progress = progress
        self._reader = FrameReader(plan)
        self._output = bytearray()
        self._open = 2
        self._broken = ""
        self._pieces: queue.Queue[_Piece] = queue.Queue(maxsize=64)

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
        self._process.wait()
        ending, detail = self._ending(late)
        return Run(
            observations=Observations.of(self._reader.events),
            ending=ending,
            detail=detail,
            output=self._text(),
            wall_seconds=time.monotonic() - started,
        )

    def _wait_until_ready(self, answers: IO[bytes]) -> None:
        clock = threading.Timer(_START_SECONDS, self._process.kill)
        clock.start()
        ready = answers.read(len(READY))
        clock.cancel()
        if ready != READY:
            self._open = 1
            self._drain()
            raise GraderFault(f"the subprocess for the submission did not start: {self._text()}")

    def _listen(self, deadline: float) -> bool:
        """Take pieces until there is a reason to stop; return False where that is the deadline."""
        while self._open and not self._broken and len(self._output) <= self._limits.output_bytes:
            try:
                self._take(self._pieces.get(timeout=max(0.0, deadline - time.monotonic())))
            except queue.Empty:
                return self._reader.finished
        return True

    def _drain(self) -> None:
        """Take what a dead subprocess left; one of its own children may hold the pipes open, so not for ever."""
        with contextlib.suppress(queue.Empty):
            while self._open:
                self._take(self._pieces.get(timeout=_DYING_SECONDS))

    def _take(self, piece: _Piece) -> None:
        self._open -= not piece.data
        if piece.printed:
            self._output += piece.data[: self._limits.output_bytes + 1 - len(self._output)]
            return
        if self._broken:
            return
        known = len(self._reader.events)
        try:
            self._reader.feed(piece.data)
        except BadAnswer as error:
            self._broken = str(error)
        for event in self._reader.events[known:]:  # what came before the break counts, in one piece with it or not
            if self._progress is not None and isinstance(event, CallSeen):
                self._progress(event)

    def _ending(self, late: bool) -> tuple[Ending, str]:
        facts = outcome.Facts(
            finished=self._reader.finished,
            broken=self._broken,
            overflow=len(self._output) > self._limits.output_bytes,
            late=late,
            code=self._process.returncode,
        )
        return outcome.ending(facts, self._limits)

    def _pump(self, pipe: IO[bytes], printed: bool) -> None:
        """Move what comes out of a pipe into the queue; a full queue makes the subprocess wait."""
        data = b"start"
        while data:
            try:
                data = os.read(pipe.fileno(), _CHUNK)
            except (OSError, ValueError):  # closed under us: the run is over
                data = b""
            self._pieces.put(_Piece(printed, data))

    def _text(self) -> str:
        return without_places(self._output[: self._limits.output_bytes].decode(errors="replace"))


def _hand_over(pipe: IO[bytes], job: bytes) -> None:
    try:
        with pipe:
            pipe.write(job)
    except OSError:  # it ended without reading; how it ended says more
        return


def be_the_child() -> None:
    """Be the subprocess: keep standard output for the answer alone, then do the child's duty and end."""
    job, result = os.dup(0), os.dup(1)
    _write_bytes_as_they_are(job, result)
    os.dup2(2, 1)
    os.close(0)
    skip_compilation()
    interior.furnish(output=2)
    os.write(result, READY)
    os._exit(interior.perform(job, result))


def _write_bytes_as_they_are(*descriptors: int) -> None:
    """Keep Windows from changing line ends inside tensors."""
    if sys.platform == "win32":
        import msvcrt

        for descriptor in descriptors:
            msvcrt.setmode(descriptor, os.O_BINARY)
