"""The child's whole duty: read a job, run the student's code, write down what was seen.

Covered: the trap for ready-made operations, and every exception of the student's. Not covered, because it is not to
be had in here: any verdict. The walls around this process are `grader.sandbox`'s business and stand before `main`.
"""

from __future__ import annotations

import gc
import io
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from types import FrameType, ModuleType
from typing import Any

from grader.box import drivers, loading, traps
from grader.box.faults import SUBMISSION, raise_after
from grader.box.held import hold, hold_in
from grader.box.observations import NOTICES, TRAP_HITS, Event, TrapHit
from grader.box.observe import observe
from grader.box.plan import Plan
from grader.box.wire.answer import END, Packer
from grader.box.wire.job import open_job

_CHUNK = 1 << 16  # bytes


def main(job: int, result: int) -> None:
    """Read a job from descriptor `job` up to its end, run it, and write its frames to descriptor `result`."""
    plan, source, arrived = _receive(job)
    hold()  # done by now in a fork of the zygote; a search through objects is trapped in a moment
    outlet = _Outlet(result, plan)
    trap_log = TrapLog(outlet.send)
    traps.install(plan.forbidden, trap_log.record, trap_log.notice)
    _withdraw(arrived)

    def load() -> Mapping[str, Any]:
        if any(call.max_elements for call in plan.calls):
            gc.freeze()  # the measuring of memory looks at what was made since
        namespace = loading.load(source, plan.entries, outlet.send, bare=plan.bare)
        traps.tell_late()
        trap_log.loading = False
        return namespace

    if plan.line_after:
        raise_after(plan.line_after)
    for event in observe(plan, load, whole=True):
        traps.tell_late()
        outlet.send(event)
        trap_log.clear()
    outlet.end()


def _receive(descriptor: int) -> tuple[Plan, str, tuple[str, ...]]:
    """Return the plan, the submission, and what arrived of ours: it is loaded then, and the job is gone."""
    job = open_job(_read_all(descriptor))
    os.close(descriptor)  # it could be read once more, from its beginning
    install(job.modules)
    drivers.prepare(job.plan)
    return job.plan, job.source, tuple(job.modules)


def install(modules: Mapping[str, str]) -> None:
    """Execute modules of ours, by name and source, each after those that it imports; then they can be imported."""
    for name, text in modules.items():
        module = ModuleType(name)
        sys.modules[name] = module
        code = compile(text, f"<{name}>", "exec", dont_inherit=True)
        exec(code, module.__dict__)  # noqa: S102 - our own source; the child has no file that it could be imported from
        hold_in([module.__dict__], [code])


class _Outlet:
    """The way out for events, one whole one after the other: a trap may spring while another is being written."""

    def __init__(self, result: int, plan: Plan) -> None:
        self._result = result
        self._packer = Packer(plan)
        self._waiting: list[Event] = []
        self._busy = False

    def send(self, event: Event) -> None:
        self._waiting.append(event)
        if self._busy:  # a finalizer of the student's, in the middle of our own writing
            return
        self._busy = True
        try:
            while self._waiting:
                _write_all(self._result, self._packer.pack(self._waiting.pop(0)))
        finally:
            self._busy = False

    def end(self) -> None:
        _write_all(self._result, END)


class TrapLog:
    """Whom the traps tell; it sends the first few places of each call, and each place once.

    Each is sent at once, so that code which catches the exception leaves a trace too.
    """

    def __init__(self, send: Callable[[TrapHit], None]) -> None:
        self.loading = True  # until somebody says otherwise
        self._send = send
        self._seen: set[TrapHit] = set()
        self._noticed: set[str] = set()

    def record(self, what: str) -> None:
        """Take note of a trapped call, from within it."""
        line, function = _place()
        hit = TrapHit(what, line, function, self.loading)
        if hit not in self._seen and len(self._seen) < TRAP_HITS:
            self._send(hit)
            self._seen.add(hit)

    def notice(self, what: str) -> None:
        """Take note of what is let through, once each, before it is."""
        if what not in self._noticed and len(self._noticed) < NOTICES:
            line, function = _place()
            self._send(TrapHit(what, line, function, self.loading, noticed=True))
            self._noticed.add(what)

    def clear(self) -> None:
        """Forget the places: another call begins."""
        self._seen.clear()


def _place() -> tuple[int | None, str]:
    """Return the innermost line of the submission that is being run, and its function."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename == SUBMISSION:
            return frame.f_lineno, frame.f_code.co_qualname
        frame = frame.f_back
    return None, ""


@cache
def ours() -> tuple[str, ...]:
    """Return the names of our modules; asked before a fork, since to look at all names writes to all their pages."""
    return tuple(name for name in sys.modules if name.partition(".")[0] == "grader")


def _withdraw(arrived: Iterable[str]) -> None:
    """Let nothing of ours be imported any more, nor the modules that `arrived` with the job.

    What runs already keeps its own references.
    """
    for name in (*ours(), *arrived):
        sys.modules.pop(name, None)
    sys.modules["grader"] = None  # type: ignore[assignment]  # Python's own sign for what must not be imported
    sys.modules["__main__"] = ModuleType("__main__")


def _read_all(descriptor: int) -> bytearray:
    """Return what a descriptor holds; each copy of it would take memory of its own, and a page fault for each page."""
    try:
        size = os.lseek(descriptor, 0, os.SEEK_END)  # the sandbox allows no other way to ask
        os.lseek(descriptor, 0, os.SEEK_SET)
    except OSError:  # a pipe
        size = 0
    whole = bytearray(size)
    del whole[io.FileIO(descriptor, closefd=False).readinto(whole) :]
    while chunk := os.read(descriptor, _CHUNK):
        whole += chunk
    return whole


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
