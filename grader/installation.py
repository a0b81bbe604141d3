"""What the settings of an installation mean for its database, memory, sandbox and rules; nothing here brings torch."""

from __future__ import annotations

import errno
import fcntl
import logging
import os
import shutil
import tempfile
from contextlib import ExitStack, closing
from pathlib import Path

from grader import stopping
from grader.box.run import Box, Limits
from grader.errors import DatabaseUnusable, SettingsError
from grader.exercise.catalog import Catalog
from grader.jobs.backup import finish_killed
from grader.jobs.locks import WorkerLock
from grader.sandbox.choice import BoxToCome
from grader.sandbox.memory import MemoryBudget, available
from grader.service.service import Rules
from grader.settings import PREFIX, Settings, hand_down_temporary_folder
from grader.store import keys, migrate, private
from grader.store.engine import PATIENCE_SECONDS, Database

LOG = logging.getLogger(__name__)
TEMPORARY = "temporary"  # a folder of the data, with one folder for each process that serves or grades
PROCESS = "process-"  # begins the name of such a folder; the id of a `WorkerLock` follows


class TemporaryFolder(tempfile.TemporaryDirectory[str]):
    """Takes the temporary files of this process, and of all that it starts, until it is removed."""

    def __init__(self, parent: Path) -> None:
        """Make it in a folder of such folders, and remove those of dead processes."""
        self._lock = WorkerLock(parent)  # before the folder is there, so that nobody takes it for a dead one's
        for folder in parent.glob(f"{PROCESS}*"):
            if self._lock.dead(folder.name.split("-")[1]):
                shutil.rmtree(folder, ignore_errors=True)
        super().__init__(dir=parent, prefix=f"{PROCESS}{self._lock.id}-", ignore_cleanup_errors=True)
        self._before, tempfile.tempdir = tempfile.tempdir, self.name
        self._undo = hand_down_temporary_folder(self.name)

    def cleanup(self) -> None:
        """Remove the folder; temporary files go where they went before."""
        tempfile.tempdir = self._before
        self._undo()
        super().cleanup()
        self._lock.close()


def keep_temporary_files(settings: Settings) -> TemporaryFolder:
    """Have this process, and all that it starts, put temporary files into the data folder; return where.

    Libraries use fixed names in the machine's folder for temporary files (`/tmp/gradio`, `/tmp/torchinductor_<user>`):
    any other user could make those first, and so stop a start or choose what is read there. The folder is removed when
    this process ends, or, after a kill, when the next one starts.

    Raises:
        SettingsError: other users of this machine may read the data, or the folder cannot be made.
    """
    private.secure(settings.data, private.file_of(settings.store_url), accept_open=settings.allow_open_data)
    parent = settings.data.absolute() / TEMPORARY
    private.make_folder(parent)
    own = TemporaryFolder(parent)
    stopping.end_first(own.cleanup)
    return own


def budget_of(settings: Settings, catalog: Catalog) -> MemoryBudget:
    """Return what the service may use, by the settings or as this machine or container has it."""
    each = max((exercise.spec.limits.memory_bytes for exercise in catalog.values()), default=Limits().memory_bytes)
    return MemoryBudget((settings.memory_mib << 20) or available(), each)


def slots_in_memory(settings: Settings, catalog: Catalog) -> int:
    """Return how many submissions may be graded at once on the CPU: as many as the settings say, if they have room.

    Raises:
        SandboxUnavailable: there is no room for one.
    """
    budget = budget_of(settings, catalog)
    found = budget.slots(settings.slots)
    if found < settings.slots:
        LOG.warning(
            "there is memory for %d submissions at once, not for %d: %d MiB, where those need %d MiB",
            *(found, settings.slots, budget.memory >> 20, budget.needed(settings.slots) >> 20),
        )
    return found


def opened(settings: Settings, patience: float = PATIENCE_SECONDS, *, migrating: bool = False) -> Database:
    """Return the database, up to date; a write waits for others for `patience` seconds.

    Where there are no tables yet they are made. Those of an older version are changed for a start of the service and
    for `migrate` only: an older service may be using them, and a command that shows something changes nothing.

    Raises:
        SettingsError: other users of this machine may read it, nothing can be stored there, a service runs on it that
            this one would disturb, or its URL cannot be read.
        DatabaseUnusable: it does not answer, or was made by a newer version, or by an older one and is not to change.
    """
    url = settings.store_url
    private.secure(settings.data, private.file_of(url), accept_open=settings.allow_open_data)
    if migrating and (file := private.file_of(url)) is not None:
        _keep_others_off(file)
    with ExitStack() as undo:
        database = Database(url, patience=patience)
        undo.callback(database.close)
        database.reach()
        finish_killed(settings.data, database)
        _settle_tables(database, migrating=migrating)
        undo.pop_all()
    return database


def _keep_others_off(file: Path) -> None:
    """Let no other service use a SQLite file until this process ends; the kernel lets go of it then.

    Two that do not know of each other's grading processes would grade everything twice. On Postgres they do.

    Raises:
        SettingsError: there is one.
    """
    held = Path(f"{file}{private.SERVING}")
    if why := private.obstacle(held.parent, held):
        raise SettingsError(f"the file {held} cannot be locked: {why}")
    try:
        handle = os.open(held, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, private.FILE_MODE)
    except OSError as refused:
        raise SettingsError(f"{held} cannot be opened: {refused.strerror}; expected: a file of ours, or none") from None
    try:
        fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)  # of the process, which may open the database again
    except OSError as refused:
        os.close(handle)
        if refused.errno not in (errno.EAGAIN, errno.EACCES):
            LOG.warning("%s cannot be locked (%s), so a second service would not be noticed", held, refused.strerror)
            return
        raise SettingsError(
            f"a service is running on the database file {file}; stop it first, or name another folder in {PREFIX}DATA. "
            "Several services at once need a Postgres: docs/operators.md"
        ) from None


def _settle_tables(database: Database, *, migrating: bool) -> None:
    before = migrate.current(database)
    if before is not None and not migrating:
        migrate.check(database)
    else:
        migrate.upgrade(database)
        after = migrate.current(database)
        if before not in (None, after):
            copy = f"; {database.engine.url.database}.before-{before} is as it was" if database.embedded else ""
            LOG.warning("%s was at revision %s and is at %s now%s", database.place, before, after, copy)
    if not database.embedded:
        from grader.jobs.cluster.library import install  # here: only Postgres needs its library

        with database.engine.begin() as connection:
            install(connection, renew=migrating)


def present(settings: Settings) -> Database:
    """Return the database as it is: nothing is made, closed to others, or migrated.

    Raises:
        DatabaseUnusable: there is none, or it does not answer.
        SettingsError: its URL cannot be read, or others may have put it there.
    """
    file = private.file_of(settings.store_url)
    if file is not None:
        private.check_place(file, accept_open=settings.allow_open_data)
        if not file.exists():
            raise DatabaseUnusable(
                f"there is no database {str(file)!r}; {PREFIX}DATA names the folder of the service's data"
            )
    database = Database(settings.store_url)
    try:
        database.reach()
    except DatabaseUnusable:
        database.close()
        raise
    return database


def choose(settings: Settings) -> Box:
    """Return the box for strangers' code.

    Raises:
        SandboxUnavailable: this machine has no sandbox for strangers' code.
    """
    with closing(BoxToCome()) as coming:
        return chosen_box(settings, coming)


def chosen_box(settings: Settings, coming: BoxToCome) -> Box:
    """Return the box that was on its way; its errors are those of `choose`."""
    box = coming.wait(allow_plain=False, allow_one_wall=settings.allow_one_wall)
    if getattr(box, "tier", "") == "C":
        LOG.warning(
            "one wall only: submissions run behind the system call filter and limits alone, as the settings say"
        )
    return box


def close(*boxes: Box | None) -> None:
    """Close the boxes that have something to close."""
    for box in boxes:
        getattr(box, "close", lambda: None)()


def slots_of(settings: Settings, *, with_gpu: bool) -> dict[str, int]:
    """Return how many submissions are graded at once on each device."""
    return {"cpu": settings.slots, **({"cuda": settings.gpu_slots} if with_gpu else {})}


def known_secret(settings: Settings) -> bytes | None:
    """Return the secret of the installation; None where none was drawn yet."""
    if settings.secret:
        return settings.secret.encode()
    return keys.secret(settings.data) if (settings.data / keys.SECRET).exists() else None


def rules_of(settings: Settings, *, with_gpu: bool = False) -> Rules:
    """Return what the installation allows; what it has not been told it draws once, and keeps in its directory."""
    return Rules(
        class_code=settings.class_code or keys.class_code(settings.data),
        secret=known_secret(settings) or keys.secret(settings.data),
        slots=slots_of(settings, with_gpu=with_gpu),
        source_bytes=settings.source_kib << 10,
        session_seconds=settings.session_hours * 3600,
        drain_seconds=settings.drain_seconds,
    )
