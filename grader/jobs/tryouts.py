"""Runs tryouts in a thread of its own, beside the workers: one at a time, and only a few wait."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Protocol

from grader.errors import GraderFault, NotAllowed, Rejected, record

LOG = logging.getLogger(__name__)
MOST_WAITING = 4  # in one process; each may take seconds
LONGEST_SOURCE = 64_000  # characters; a message between processes holds it whole, escaped
LONGEST_ANSWER = 150_000  # characters
BUSY = "Many people are trying their code at this moment. Please try again in a few seconds."


@dataclass(frozen=True, slots=True)
class TryoutRequest:
    """What somebody wants to try.

    Attributes:
        exercise: its id; one that there is.
        source: the answer.
        example: a case of the exercise; the first one if there is none of that name.
        seed: what the numbers are drawn from.
        typed: what is to stand in place of drawn numbers, by argument.
    """

    exercise: str
    source: str
    example: str = ""
    seed: int = 1
    typed: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TryoutOutcome:
    """What came of a tryout: the answer as JSON; or, without one, why it was refused or what broke."""

    body: str = ""
    refusal: str = ""
    fault: str = ""

    @classmethod
    def of(cls, future: Future[str]) -> TryoutOutcome:
        """Return what comes of a tryout; waits for it."""
        fault = future.exception()
        if fault is None:
            return cls(body=future.result())
        return cls(refusal=str(fault)) if isinstance(fault, NotAllowed) else cls(fault=str(fault))

    def settle(self, future: Future[str]) -> None:
        """Give it to whoever waits, if somebody still does."""
        if not future.set_running_or_notify_cancel():
            return
        try:
            future.set_result(self.answer())
        except (NotAllowed, GraderFault) as reason:
            future.set_exception(reason)

    def answer(self) -> str:
        """Return the answer.

        Raises:
            NotAllowed: it was refused.
            GraderFault: something of ours broke.
        """
        if self.refusal:
            raise NotAllowed(self.refusal)
        if self.fault:
            raise GraderFault(self.fault)
        return self.body


class Tryouts(Protocol):
    """Whoever runs tryouts."""

    def try_out(self, request: TryoutRequest) -> Future[str]:
        """Return what will be the answer as JSON, once it was run.

        The future raises NotAllowed where the request is refused, with the reason, and GraderFault for a fault of ours.
        """
        ...


class TryoutThread:
    """Runs tryouts one after the other; the thread starts with the first.

    Args:
        run: gives the answer to a request, as JSON.
    """

    def __init__(self, run: Callable[[TryoutRequest], str]) -> None:
        self._run = run
        self._waiting: queue.Queue[Callable[[], None]] = queue.Queue(MOST_WAITING)
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def try_out(self, request: TryoutRequest) -> Future[str]:
        """Return what will be the answer; see `Tryouts`."""
        future: Future[str] = Future()
        try:
            self._waiting.put_nowait(lambda: self._settle(future, request))
        except queue.Full:
            future.set_exception(NotAllowed(BUSY))
            return future
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, daemon=True, name="tryouts")
                self._thread.start()
        return future

    def _serve(self) -> None:
        while True:
            self._waiting.get()()

    def _settle(self, future: Future[str], request: TryoutRequest) -> None:
        if not future.set_running_or_notify_cancel():
            return
        try:
            future.set_result(self._answer(request))
        except (Rejected, NotAllowed) as refusal:
            future.set_exception(NotAllowed(str(refusal)))
        except Exception as fault:  # noqa: BLE001 - the thread serves others after this one, and whatever it is, it is ours
            future.set_exception(GraderFault(record(LOG, f"a tryout of {request.exercise} broke", fault)))

    def _answer(self, request: TryoutRequest) -> str:
        body = self._run(request)
        if len(body) > LONGEST_ANSWER:
            raise NotAllowed("There is too much to show in this example; choose a smaller one.")
        return body
