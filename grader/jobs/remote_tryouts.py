"""The pages' side of tryouts: each goes to the grading process with the fewest, and its answer comes back by number."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Collection
from concurrent.futures import Future

from grader.jobs.messages import Message, RunTryout, TryoutDone
from grader.jobs.tryouts import BUSY, TryoutOutcome, TryoutRequest

Offer = Callable[[int, Message], bool]  # a message for the process of that number; whether it was taken


class RemoteTryouts:
    """Knows which tryouts are under way in which process; every method may be called from any thread.

    Args:
        offer: sends a message to a grading process.
        processes: the numbers of those that there are now.
    """

    def __init__(self, offer: Offer, processes: Callable[[], Collection[int]]) -> None:
        """Start with none."""
        self._offer, self._processes = offer, processes
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._open: dict[int, tuple[int, Future[str]]] = {}  # by number: where it runs, and who waits

    def try_out(self, request: TryoutRequest) -> Future[str]:
        """Return what will be the answer; see `Tryouts`."""
        future: Future[str] = Future()
        with self._lock:
            taken = [place for place, _ in self._open.values()]
            place = min(self._processes(), key=taken.count)
            number = next(self._numbers)
            self._open[number] = (place, future)
        if not self._offer(place, RunTryout(number, request)):  # it does not listen now, or the source is too long
            self.settle(TryoutDone(number, refusal=BUSY))
        return future

    def settle(self, done: TryoutDone) -> None:
        """Hand on the answer to a tryout."""
        with self._lock:
            _, future = self._open.pop(done.number, (0, None))
        if future is not None:
            TryoutOutcome(done.body, done.refusal, done.fault).settle(future)

    def lose(self, place: int) -> None:
        """Give up what runs in a process that has ended."""
        with self._lock:
            numbers = [number for number, (where, _) in self._open.items() if where == place]
        for number in numbers:
            self.settle(TryoutDone(number, fault="the grading process ended"))
