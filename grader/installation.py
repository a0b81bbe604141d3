"""What the settings of an installation mean for its database, memory, sandbox and rules; nothing here brings torch."""

from __future__ import annotations

import logging
from contextlib import closing

from grader.box.run import Box, Limits
from grader.errors import DatabaseUnusable
from grader.exercise.catalog import Catalog
from grader.sandbox import cgroup
from grader.sandbox.budget import MemoryBudget
from grader.sandbox.choice import BoxToCome
from grader.service.service import Rules
from grader.settings import PREFIX, Settings
from grader.store import keys, migrate, private
from grader.store.engine import PATIENCE_SECONDS, Database

LOG = logging.getLogger(__name__)


def budget_of(settings: Settings, catalog: Catalog) -> MemoryBudget:
    """Return what the service may use, by the settings or as this machine or container has it."""
    each = max((exercise.spec.limits.memory_bytes for exercise in catalog.values()), default=Limits().memory_bytes)
    return MemoryBudget((settings.memory_mib << 20) or cgroup.available(), each)


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


def opened(settings: Settings, patience: float = PATIENCE_SECONDS) -> Database:
    """Return the database, up to date; a write waits for others for `patience` seconds.

    Raises:
        SettingsError: other users of this machine may read it, or its URL cannot be read.
        DatabaseUnusable: it does not answer, or was made by a newer version.
    """
    url = settings.store_url
    private.secure(settings.data, private.file_of(url), accept_open=settings.allow_open_data)
    database = Database(url, patience=patience)
    database.reach()
    migrate.upgrade(database)
    if not database.embedded:
        from grader.jobs.cluster.library import install  # here: only Postgres needs its library

        with database.engine.begin() as connection:
            install(connection)
    return database


def present(settings: Settings) -> Database:
    """Return the database as it is: nothing is made, closed to others, or migrated.

    Raises:
        DatabaseUnusable: there is none, or it does not answer.
        SettingsError: its URL cannot be read.
    """
    file = private.file_of(settings.store_url)
    if file is not None and not file.exists():
        raise DatabaseUnusable(
            f"there is no database {str(file)!r}; {PREFIX}DATA names the folder of the service's data"
        )
    database = Database(settings.store_url)
    database.reach()
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


def rules_of(settings: Settings, *, with_gpu: bool = False) -> Rules:
    """Return what the installation allows; what it has not been told it draws once, and keeps in its directory."""
    secret = settings.secret
    return Rules(
        class_code=settings.class_code or keys.class_code(settings.data),
        secret=secret.encode() if secret else keys.secret(settings.data),
        slots=slots_of(settings, with_gpu=with_gpu),
        source_bytes=settings.source_kib << 10,
        session_seconds=settings.session_hours * 3600,
        drain_seconds=settings.drain_seconds,
    )
