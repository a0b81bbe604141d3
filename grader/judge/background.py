"""A thread for one act, which says so if it never began.

Python's own would be waited for without end: `Thread.start` waits until the thread reports itself, and one that dies
before that, because there is no memory for it, never does.
"""

from __future__ import annotations

import _thread
import threading
from collections.abc import Callable
from contextvars import copy_context
from typing import Generic, TypeVar

from grader.errors import GraderFault

BEGIN_SECONDS = 5.0  # it takes far less than a thousandth of that, on a busy machine too
Result = TypeVar("Result")


class Background(Generic[Result]):
    """Does one thing in a thread of its own, from now on."""

    def __init__(self, act: Callable[[], Result]) -> None:
        self._act = act
        self._begun = threading.Event()
        self._done = threading.Event()
        self._results: list[Result] = []
        self._fault: BaseException | None = None
        _thread.start_new_thread(copy_context().run, (self._run,))  # log entries name the same submission

    def result(self) -> Result:
        """Wait for its end; return what came of it, or raise what it raised.

        Raises:
            GraderFault: the thread died before it began.
        """
        if not self._begun.wait(BEGIN_SECONDS):
            raise GraderFault("a thread died before it began; there is no memory for it")
        self._done.wait()
        if self._fault is not None:
            raise self._fault
        return self._results[0]

    def _run(self) -> None:
        self._begun.set()
        try:
            self._results.append(self._act())
        except BaseException as fault:  # noqa: BLE001 - whatever it is, it is raised where the result is asked for
            self._fault = fault
        finally:
            self._done.set()
