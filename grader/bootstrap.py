"""Puts the service together from the settings: the pages, and the processes that grade; only these bring torch."""

from __future__ import annotations

import hashlib
import logging
import secrets
import threading
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from grader import grading_entry, stopping
from grader.errors import SettingsError
from grader.exercise.catalog import Catalog
from grader.installation import budget_of, opened, rules_of, slots_in_memory, slots_of
from grader.jobs import archive
from grader.jobs.locks import machine_in
from grader.jobs.supervisor import WorkerSupervisor
from grader.sandbox import memory
from grader.sandbox.gpu import may_be_there
from grader.service import Service
from grader.settings import Settings
from grader.store import processes
from grader.store.engine import Database, StoreUnavailable
from grader.store.processes import KnownProcess

if TYPE_CHECKING:  # only Postgres needs its libraries
    from grader.jobs.cluster.pages import RemoteQueue

LOG = logging.getLogger(__name__)
STOP_SECONDS = 1.0  # at most between a signal and the stop
OTHER_SECRET = (
    "ATTENTION_GYM_SECRET is not the one of another process that serves these pages now; expected: the same for all. "
    "Without a setting the first machine keeps it in `secret` in its data directory. To replace it, stop them all first"
)


@dataclass(frozen=True, slots=True)
class Starting:
    """A service whose grading processes warm up."""

    settings: Settings
    catalog: Catalog
    database: Database
    supervisor: WorkerSupervisor | RemoteQueue

    def service(self) -> Service:
        """Return the service, for which pages can be built; it grades once `wait` has returned and it is started.

        Raises:
            SettingsError: another machine serves these pages with another secret.
        """
        # Where there may be a GPU, the pages have a choice, which is shown once a grading process has found one.
        rules = rules_of(self.settings, with_gpu=bool(self.settings.gpu_slots) and may_be_there())
        engine, tryouts = self.supervisor, self.supervisor.tryouts
        closing = self._present(rules.secret)
        archive.keep(self.database, self.catalog, rules.secret)
        return Service(self.database, self.catalog, engine, tryouts=tryouts, rules=rules, closing=closing)

    def wait(self, service: Service) -> None:
        """Wait for the grading processes of `service` to be warm, and tell it what they are.

        Raises:
            SandboxUnavailable: this machine has no sandbox for strangers' code.
            AuthorError: an exercise is written wrongly.
        """
        hello = self.supervisor.wait()
        service.settle(hello.box, slots_of(self.settings, with_gpu=hello.gpu))

    def _present(self, secret: bytes) -> Callable[[], None]:
        """Show other machines that this one serves pages; return what ends that."""
        if self.database.embedded:
            return lambda: None
        machine = machine_in(self.settings.data / "workers")
        digest = hashlib.sha256(b"which secret: " + secret).hexdigest()  # tells two apart, and shows neither
        return show_pages(self.database, KnownProcess(secrets.token_hex(8), machine, secret=digest))


def show_pages(database: Database, process: KnownProcess) -> Callable[[], None]:
    """Show the others that a process serves pages, from now on and in a thread of its own; return what ends that.

    Raises:
        SettingsError: another one serves pages with another secret.
        StoreUnavailable: the database does not answer.
    """
    left = threading.Event()

    def keep_showing() -> None:
        while not left.wait(processes.SHOW_SECONDS):
            try:
                with database.write() as session:
                    processes.hear(session, process)
            except StoreUnavailable as fault:
                LOG.warning("other processes do not hear of this one: %s", fault)

    def leave() -> None:
        left.set()
        with suppress(StoreUnavailable), database.write() as session:
            processes.leave(session, process.id)

    with database.write() as session:
        others = {one.secret for one in processes.living(session, processes.SILENCE_SECONDS)} - {""}
        if others - {process.secret}:
            raise SettingsError(OTHER_SECRET)
        processes.hear(session, process)
    threading.Thread(target=keep_showing, daemon=True, name="heartbeat").start()
    return leave


def start(settings: Settings, *, grading: bool = True, migrating: bool = True) -> Starting:
    """Open the database and start the grading processes, which take seconds to warm up.

    Args:
        grading: whether to grade here; else it is left to other machines that share a Postgres with this one.
        migrating: whether tables of an older version may be changed.

    Raises:
        DatabaseUnusable: as `opened` says.
        SandboxUnavailable: there is too little memory.
        AuthorError: an exercise is written wrongly.
        SettingsError: other users of this machine may read the database, or nobody is there to grade.
    """
    if not grading:
        return _start_pages(settings)
    catalog = Catalog.load()
    catalog.read_texts()
    settings = replace(settings, slots=slots_in_memory(settings, catalog))
    database = opened(settings, migrating=migrating)
    memory.settle()
    budget = budget_of(settings, catalog)
    processes = budget.processes(settings.slots)
    supervisor = _supervisor(settings, database, processes, room=budget.room(-(-settings.slots // processes)))
    stopping.end_first(supervisor.abandon)
    return Starting(settings, catalog, database, supervisor)


def _start_pages(settings: Settings) -> Starting:
    check_shared(settings)
    catalog = Catalog.load()
    catalog.read_texts()
    database = opened(settings, migrating=True)
    from grader.jobs.cluster.notices import Notices  # here and not above: only Postgres needs these libraries
    from grader.jobs.cluster.pages import RemoteQueue

    return Starting(settings, catalog, database, RemoteQueue(database, Notices(database.engine.url)))


def check_shared(settings: Settings) -> None:
    """Look whether other machines may have the same database.

    Raises:
        SettingsError: it is a file, which no other machine has.
    """
    if not settings.database_url.startswith("postgres"):
        raise SettingsError("DATABASE_URL is not set to a Postgres, which the machines share; expected: postgresql://…")


def _supervisor(settings: Settings, database: Database, processes: int, room: int) -> WorkerSupervisor:
    begin = partial(grading_entry.start, settings, room)
    if database.embedded:
        return WorkerSupervisor(database, begin, processes)
    # Here and not above: only Postgres needs these libraries.
    from grader.jobs.cluster.notices import Notices
    from grader.jobs.cluster.pages import ClusterSupervisor

    notices = Notices(database.engine.url)
    return ClusterSupervisor(database, begin, processes, notices=notices, workers=settings.data / "workers")


def grade_until(
    stop: threading.Event, settings: Settings, devices: Collection[str], ready: Callable[[str], None]
) -> None:
    """Grade here, without pages, what is handed in at other machines, until `stop` is set.

    What is being graded then is finished, or handed back. `devices` are `cpu` and `cuda`; `ready` is called with the
    name of the sandbox once this machine grades.

    Raises:
        SettingsError: the database is a file, which no other machine has.
        SandboxUnavailable: this machine has no sandbox for strangers' code, or too little memory.
        AuthorError: an exercise is written wrongly.
    """
    check_shared(settings)
    starting = start(settings, migrating=False)
    archive.keep(starting.database, starting.catalog)  # unsigned: only machines with pages need have the secret
    try:
        hello = starting.supervisor.wait()
        slots = slots_of(starting.settings, with_gpu=hello.gpu)
        starting.supervisor.start({device: number for device, number in slots.items() if device in devices})
        ready(hello.box)
        while not stop.wait(STOP_SECONDS):
            pass  # a signal that another thread has got, as after SIGCONT, ends no wait of the main one
        starting.supervisor.drain(settings.drain_seconds)
    finally:
        starting.database.close()


def build(settings: Settings) -> Service:
    """Start a service and return it once it is warm; for the errors see `start` and `Starting`."""
    starting = start(settings)
    service = starting.service()
    starting.wait(service)
    return service
