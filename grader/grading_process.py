"""What grades in one process: the engine with its boxes, composed from the settings."""

from __future__ import annotations

import gc
import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial

import torch

from grader.box.run import Box, Limits
from grader.checks.registry import given_options
from grader.errors import AuthorError, GraderFault, SandboxUnavailable
from grader.exercise.catalog import Catalog
from grader.exercise.versions import grader_version
from grader.installation import choose, chosen_box, close, opened, rules_of
from grader.jobs import archive
from grader.jobs.engine import EmbeddedEngine, GradingEngine
from grader.jobs.grading import grade_with, tryouts_with, versions_with
from grader.jobs.live import Live
from grader.jobs.messages import (
    Advanced,
    Drain,
    Interrupt,
    Message,
    Moved,
    Ready,
    RunTryout,
    StartWorkers,
    Took,
    TryoutDone,
    Unavailable,
    Wake,
    WronglyWritten,
    received,
    send,
)
from grader.jobs.tryouts import TryoutOutcome, Tryouts, TryoutThread
from grader.jobs.worker import Retries
from grader.judge.completion import PANEL_DTYPE, DevicePlace
from grader.log import set_up_log
from grader.sandbox.choice import BoxToCome
from grader.sandbox.gpu import there_is_a_gpu
from grader.sandbox.gpu.box import DeviceBox
from grader.sandbox.runner import Sandbox
from grader.service import Service
from grader.settings import Settings
from grader.store.engine import PATIENCE_SECONDS, Database
from grader.store.records import SubmissionId

LOG = logging.getLogger(__name__)
WORKERS_A_RUN = 2  # the submission's and the reference's, side by side
TELL_SECONDS = 0.1  # between two words on the same grading


def serve(connection: socket.socket, settings: Settings, coming: BoxToCome, *, first: bool) -> None:
    """Grade for the pages' process at the other end of `connection` until it ends the conversation.

    The box of strangers' code is on its way; the `first` process has the GPU.
    """
    torch.set_num_threads(1)  # the references' tensors are small, and every slot is a thread already
    set_up_log(settings.log_format)
    try:
        catalog = Catalog.load()
        check_options(catalog)
        box = chosen_box(settings, coming)
        check_limits(catalog, box)
    except AuthorError as error:
        send(connection, WronglyWritten(str(error)))
        return
    except SandboxUnavailable as reason:
        send(connection, Unavailable(str(reason)))
        return
    gpu = choose_gpu(settings) if first else None
    database = Database(settings.store_url)
    relay = RemoteProgress(_reporting(database, connection))
    threading.Thread(target=relay.keep_telling, daemon=True, name="relay").start()
    tryouts = TryoutThread(tryouts_with(catalog, box))
    engine = _engine(settings, catalog, database, (box, gpu), tryouts=tryouts, live=relay)
    gc.collect()
    gc.freeze()  # no need to look at torch's objects again and again
    gc.enable()
    send(connection, Ready(_name(box, gpu), gpu is not None))
    try:
        serve_commands(connection, engine, tryouts)
    finally:
        close(box, gpu)


@contextmanager
def grading_here(
    settings: Settings, database: Database, catalog: Catalog, clock: Callable[[], float]
) -> Iterator[EmbeddedEngine]:
    """Grade in this process whatever is put into its queue, as the service does, but by a clock of the caller's.

    Raises:
        SandboxUnavailable: this machine has no sandbox for strangers' code.
        AuthorError: an exercise is written wrongly.
    """
    torch.set_num_threads(1)
    check_options(catalog)
    box = choose(settings)
    try:
        check_limits(catalog, box)
        grade, versions = grade_with(catalog, box), versions_with(catalog)
        engine = EmbeddedEngine(database, grade, workers=settings.data / "workers", versions=versions, clock=clock)
        engine.start({"cpu": 1})
        yield engine
        engine.drain(settings.drain_seconds)
    finally:
        close(box)


class RemoteProgress(Live):
    """The progress of a grading process, reported to whoever shows it; steps only every tenth of a second."""

    def __init__(self, report: Callable[[Message], bool]) -> None:
        super().__init__()
        self._report = report
        self._telling = threading.Lock()
        self._news: set[SubmissionId] = set()
        self._something = threading.Event()

    def moved(self, id: SubmissionId) -> None:
        """Say that this submission entered, left or ended its wait."""
        with self._telling:
            self._report(Moved(id))

    def changed(self, id: SubmissionId) -> None:
        """Keep in mind that there is news of this submission."""
        self._news.add(id)
        self._something.set()

    def took(self, seconds: float) -> None:
        """Say how long a grading took."""
        self._report(Took(seconds))

    def tell(self) -> None:
        """Say how far those submissions are of which there is news."""
        while self._news:
            id = self._news.pop()
            with self._telling:  # a step that is told after the end would be kept for ever
                if self.running(id):
                    self._report(Advanced(id, self.steps(id)))

    def keep_telling(self) -> None:
        """Do so every tenth of a second while there is news; for a thread of its own."""
        while self._something.wait():
            self._something.clear()  # first, so that what comes from now on is told at the next time
            self.tell()
            time.sleep(TELL_SECONDS)


def serve_commands(connection: socket.socket, engine: GradingEngine, tryouts: Tryouts) -> None:
    """Carry out the commands of the pages' process until it says drain; exit if it is gone.

    When one of both dies, the other reads the end of the stream. What is being graded then is graded again by the next.
    """
    for message in received(connection):
        match message:
            case StartWorkers(slots):
                engine.run(slots)
            case Wake(queue):
                engine.wake(queue)
            case Interrupt(id):
                engine.interrupt(id)
            case RunTryout(number, request):
                tryouts.try_out(request).add_done_callback(partial(_tell_tryout, connection, number))
            case Drain(seconds):
                engine.drain(seconds)
                return
            case _:
                raise GraderFault(f"a grading process takes no such command: {message}")
    os._exit(1)  # nobody waits for what is being graded; the next start finds it


def _tell_tryout(connection: socket.socket, number: int, done: Future[str]) -> None:
    send(connection, TryoutDone(number, TryoutOutcome.of(done)))


def check_options(catalog: Catalog) -> None:
    """Look at what the checks of all exercises are told, now and not at the first submission.

    Raises:
        AuthorError: a check is not there, or has other options.
    """
    for exercise in catalog.values():
        try:
            given_options(exercise.spec)
        except AuthorError as error:
            raise AuthorError(f"`{exercise.folder / 'exercise.toml'}`: {error}") from error


def check_limits(catalog: Catalog, box: Box) -> None:
    """Look whether this machine allows what the exercises promise a run, now and not at the first submission.

    Raises:
        SandboxUnavailable: it does not; the text says which limit has to be raised.
    """
    promised = [exercise.spec.limits for exercise in catalog.values()]
    if promised and isinstance(box, Sandbox):
        seconds = max(limits.cpu_seconds for limits in promised)
        box.check(Limits(cpu_seconds=seconds, memory_bytes=max(limits.memory_bytes for limits in promised)))


def choose_gpu(settings: Settings) -> DeviceBox | None:
    """Return the box of the GPU with its workers warm, None where there is none, or none that works."""
    if not settings.gpu_slots or not there_is_a_gpu():
        return None
    gpu = DeviceBox("cuda", workers=WORKERS_A_RUN * settings.gpu_slots)
    try:
        gpu.pool.wait()
    except GraderFault as fault:
        LOG.warning("there is a GPU, and it is not offered: %s", fault)
        gpu.close()
        return None
    return gpu


def assemble(
    settings: Settings,
    catalog: Catalog,
    box: Box,
    *,
    gpu: DeviceBox | None = None,
    retries: Retries | None = None,
    patience: float = PATIENCE_SECONDS,
) -> Service:
    """Return a service that grades in this process and these boxes; the rest is for whoever cannot wait long."""
    database = opened(settings, patience)
    rules = rules_of(settings, with_gpu=gpu is not None)
    archive.keep(database, catalog, rules.secret)
    tryouts = TryoutThread(tryouts_with(catalog, box))
    engine = _engine(settings, catalog, database, (box, gpu), tryouts=tryouts, retries=retries)
    return Service(
        database,
        catalog,
        engine,
        tryouts=tryouts,
        rules=rules,
        box_name=_name(box, gpu),
        closing=lambda: close(box, gpu),
    )


def _name(box: Box, gpu: DeviceBox | None) -> str:
    return f"{box.name}; on request beside it a {gpu.name}" if gpu else box.name


def _engine(
    settings: Settings,
    catalog: Catalog,
    database: Database,
    boxes: tuple[Box, DeviceBox | None],
    *,
    tryouts: Tryouts,
    live: Live | None = None,
    retries: Retries | None = None,
) -> GradingEngine:
    box, gpu = boxes
    place = DevicePlace(gpu.device, PANEL_DTYPE, gpu, apart=True) if gpu else None
    engine: Callable[..., GradingEngine] = EmbeddedEngine
    if not database.embedded:
        from grader.jobs.cluster.engine import ClusterEngine  # here: only Postgres needs its libraries

        engine = partial(ClusterEngine, tryouts=tryouts, version=grader_version())
    return engine(
        database,
        grade_with(catalog, box, place),
        versions=versions_with(catalog),
        workers=settings.data / "workers",
        live=live,
        retries=retries,
    )


def _reporting(database: Database, connection: socket.socket) -> Callable[[Message], bool]:
    """Return how a grading process reports its progress: to its own pages, or to those of all machines."""
    if database.embedded:
        return partial(send, connection)
    from grader.jobs.cluster.notices import Notices  # here, as in `_engine`

    return Notices(database.engine.url).publish
