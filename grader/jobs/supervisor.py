"""Supervises grading processes, so that pages never wait for a grading.

Python runs one thread of a process at a time. With the workers in the pages' process, a page event waits for the
references, the judging and the diagnoses of everybody else; here it waits for other page events only. Each grading
process is an engine on the same database. One that dies is replaced, and what it held is graded again.
"""

from __future__ import annotations

import itertools
import logging
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future

from grader.errors import AuthorError, GraderFault, SandboxUnavailable
from grader.jobs import claims
from grader.jobs.live import Live
from grader.jobs.messages import (
    MESSAGE_BYTES,
    Drain,
    Interrupt,
    Message,
    Ready,
    RunTryout,
    StartWorkers,
    TryoutDone,
    Unavailable,
    Wake,
    WronglyWritten,
    heed_progress,
    received,
    send,
)
from grader.jobs.table import Queue
from grader.jobs.tryouts import BUSY, TryoutOutcome, TryoutRequest
from grader.store.engine import Database, StoreUnavailable
from grader.store.records import SubmissionId

LOG = logging.getLogger(__name__)
START_SECONDS = 120.0
PAUSE_SECONDS = 1.0  # before a grading process that died is replaced
GRACE_SECONDS = 10.0  # for closing down after a drain

Start = Callable[[socket.socket, int], subprocess.Popen[bytes]]  # its end of the connection, and its number


class WorkerProcess:
    """The handle of one grading process."""

    def __init__(self, start: Start, place: int) -> None:
        self._warm = False
        self._ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        for end in (self._ours, theirs):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, MESSAGE_BYTES)  # the system may grant less
        with theirs:
            self._process = start(theirs, place)

    def wait(self) -> Ready:
        """Return what it says of itself once it can grade.

        Raises:
            SandboxUnavailable: this machine has no sandbox for strangers' code.
            AuthorError: an exercise is written wrongly.
            GraderFault: it did not start.
        """
        self._ours.settimeout(START_SECONDS)
        hello = next(received(self._ours), None)
        self._ours.settimeout(None)
        if isinstance(hello, Unavailable):
            raise SandboxUnavailable(hello.reason)
        if isinstance(hello, WronglyWritten):
            raise AuthorError(hello.reason)
        if not isinstance(hello, Ready):
            raise GraderFault("a grading process ended before it could grade; the log has its last words")
        self._warm = True
        return hello

    def tell(self, message: Message, *, hint: bool = False) -> bool:
        """Say something to it; a `hint` may get lost, which is returned, and never waits until somebody listens."""
        return send(self._ours, message, hint=hint)

    def listen(self, heed: Callable[[Message], None]) -> None:
        """Pass on what it says, up to its end."""
        for message in received(self._ours):
            heed(message)

    @property
    def warm(self) -> bool:
        """Whether it lives and can grade."""
        return self._warm and self._process.poll() is None

    def abandon(self) -> None:
        """End it at once where it still warms up: nothing is lost, and it would hear nothing before it is warm."""
        if not self._warm:
            self._process.send_signal(signal.SIGUSR1)

    def end(self, seconds: float) -> None:
        """Wait for its end, and bring it about after `seconds`."""
        try:
            self._process.wait(max(0.0, seconds))
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._ours.close()


class RemoteTryouts:
    """The pages' side of tryouts: each goes to the process with the fewest, and its answer comes back by number.

    Every method may be called from any thread.

    Args:
        offer: sends a message to the grading process of a number; whether it was taken.
        processes: the numbers of those that there are now.
    """

    def __init__(self, offer: Callable[[int, Message], bool], processes: Callable[[], Collection[int]]) -> None:
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
            self.settle(TryoutDone(number, TryoutOutcome(refusal=BUSY)))
        return future

    def settle(self, done: TryoutDone) -> None:
        """Hand on the answer to a tryout."""
        with self._lock:
            _, future = self._open.pop(done.number, (0, None))
        if future is not None:
            done.outcome.settle(future)

    def lose(self, place: int) -> None:
        """Give up what runs in a process that has ended."""
        with self._lock:
            numbers = [number for number, (where, _) in self._open.items() if where == place]
        for number in numbers:
            self.settle(TryoutDone(number, TryoutOutcome(fault="the grading process ended")))


class WorkerSupervisor(Queue):
    """Delivers the jobs of one database file to so many grading processes, which `start` starts.

    The first one warms up from now on; the others are started once it grades.
    """

    def __init__(
        self, database: Database, start: Start, processes: int, *, clock: Callable[[], float] = time.time
    ) -> None:
        super().__init__(database, Live(), clock)
        self._start = start
        self._leaving = threading.Event()
        self._shares: list[dict[str, int]] = []
        self._places = range(processes)
        self._processes = {place: WorkerProcess(start, place) for place in self._places[:1]}
        self._threads: list[threading.Thread] = []
        self.tryouts = RemoteTryouts(self._offer, lambda: self._processes.keys())

    def wait(self) -> Ready:
        """Return what the first process says of itself, once it is warm; raises what `WorkerProcess.wait` does."""
        return self._await(self._processes[0])

    def wake(self, queue: str) -> None:
        """Wake a worker in one of the processes; each looks twice a second anyway."""
        self._tell(Wake(queue), hint=True)

    def interrupt(self, id: SubmissionId) -> None:
        """End the try of a submission that was cancelled, wherever it is made; one that goes on has lost its claim."""
        self._tell(Interrupt(id), hint=True)

    def run(self, slots: Mapping[str, int]) -> None:
        """Start that many slots for each queue and return."""
        self._leaving.clear()
        self._shares = shared_out(slots, len(self._places))
        self.live.slots = sum(slots.values())
        self._threads = [
            threading.Thread(target=self._follow, args=(place,), daemon=True, name="grading process")
            for place in self._places
        ]
        for thread in self._threads:
            thread.start()

    def grades(self) -> bool:
        """Return whether a grading process is warm, and is not told to stop."""
        return not self._leaving.is_set() and any(process.warm for process in list(self._processes.values()))

    def drain(self, seconds: float) -> bool:
        """Take nothing new, wait for what runs, hand the rest back; True if nothing had to be handed back."""
        self._leaving.set()
        self.abandon()
        self._tell(Drain(seconds))
        end = time.monotonic() + seconds + GRACE_SECONDS
        for process in list(self._processes.values()):
            process.end(end - time.monotonic())
        for thread in self._threads:
            thread.join()
        try:
            with self._database.read() as session:
                return not any(map(self._answers_for, claims.holders(session)))
        except StoreUnavailable as fault:
            LOG.warning("nobody knows what had to be handed back: %s", fault)
            return False

    def abandon(self) -> None:
        """End the processes that still warm up."""
        for process in list(self._processes.values()):
            process.abandon()

    def _answers_for(self, _worker: str) -> bool:
        """Return whether a grading process of this supervisor has, or had, this name in the table."""
        return True

    def _tell(self, message: Message, *, hint: bool = False) -> None:
        for process in list(self._processes.values()):
            process.tell(message, hint=hint)

    def _offer(self, place: int, message: Message) -> bool:
        return self._processes[place].tell(message, hint=True)

    def _follow(self, place: int) -> None:
        """Heed one process, and its successor when it dies, as long as this engine runs."""
        if place not in self._processes:
            self._begin(place)
        while not self._leaving.is_set():
            if (process := self._processes.get(place)) is not None:
                process.tell(StartWorkers(self._shares[place]))
                process.listen(self._heed)
                self.tryouts.lose(place)
            if not self._leaving.wait(PAUSE_SECONDS):
                LOG.error("a grading process ended; another one takes over what it held")
                if process is not None:
                    process.end(0.0)
                self._begin(place)

    def _begin(self, place: int) -> None:
        """Start a process and wait until it is warm, or until nobody needs it any more."""
        try:
            self._processes[place] = fresh = WorkerProcess(self._start, place)
            if self._leaving.is_set():  # whoever said so may not have seen it
                fresh.abandon()
            self._await(fresh)
        except (GraderFault, OSError) as fault:  # no process or descriptor to be had; tried again after a pause
            if not self._leaving.is_set():
                LOG.error("a grading process did not start: %s", fault)

    def _await(self, process: WorkerProcess) -> Ready:
        """Return what a process says of itself once it is warm; end it if it does not get warm."""
        try:
            return process.wait()
        except GraderFault:
            process.end(0.0)
            raise
        except OSError as error:  # its connection was closed: it was ended meanwhile
            process.end(0.0)
            raise GraderFault(f"a grading process was ended before it could grade: {error}") from error

    def _heed(self, message: Message) -> None:
        if isinstance(message, TryoutDone):
            self.tryouts.settle(message)
        else:
            heed_progress(self.live, message)


def shared_out(slots: Mapping[str, int], processes: int) -> list[dict[str, int]]:
    """Return the slots of each process: those of the CPU in equal parts, those of a device all in the first."""
    cpu = slots.get("cpu", 0)
    shares: list[dict[str, int]] = [{"cpu": (cpu + place) // processes} for place in range(processes)]
    shares[0] |= {queue: number for queue, number in slots.items() if queue != "cpu"}
    return shares
