"""Puts the service together from the settings; for serving only, since the desk needs neither store nor engine."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cache

import torch

from grader.box.run import Box
from grader.errors import GraderFault
from grader.exercise.catalog import Catalog
from grader.jobs.embedded import EmbeddedEngine
from grader.jobs.engine import Grade, Tracker
from grader.jobs.slot import Retries
from grader.jobs.watching import Watching
from grader.judge.grade import grade
from grader.judge.report import Report
from grader.judge.sheet import draw_up
from grader.sandbox.choice import choose_box
from grader.sandbox.runner import Sandbox
from grader.service import Service
from grader.service.service import Rules
from grader.settings import Settings
from grader.store import keys, migrate
from grader.store.engine import PATIENCE_SECONDS, Database
from grader.store.records import Submission

LOG = logging.getLogger(__name__)


def build(settings: Settings) -> Service:
    """Return the service, with its database up to date and its sandbox warm; it grades once it is started.

    Raises:
        SandboxUnavailable: this machine has no sandbox for strangers' code.
        AuthorError: an exercise is written wrongly.
    """
    torch.set_num_threads(1)  # the references' tensors are small, and every slot is a thread already
    return assemble(settings, Catalog.load(), choose(settings))


def choose(settings: Settings) -> Box:
    """Return the box for strangers' code.

    Raises:
        SandboxUnavailable: this machine has no sandbox for strangers' code.
    """
    box = choose_box(allow_plain=False, allow_one_wall=settings.allow_one_wall)
    if isinstance(box, Sandbox) and box.tier == "C":
        LOG.warning(
            "one wall only: submissions run behind the system call filter and limits alone, as the settings say"
        )
    return box


def assemble(
    settings: Settings,
    catalog: Catalog,
    box: Box,
    *,
    retries: Retries | None = None,
    patience: float = PATIENCE_SECONDS,
) -> Service:
    """Return the service over these exercises and this box; `retries` and `patience` for whoever cannot wait long."""
    database = Database(settings.database_url or settings.file_url, patience=patience)
    migrate.upgrade(database)
    engine = EmbeddedEngine(database, grade_with(catalog, box), workers=settings.data / "workers", retries=retries)
    return Service(
        database,
        catalog,
        engine,
        watching=Watching(database, engine.live),
        rules=rules_of(settings),
        box_name=box.name,
        closing=getattr(box, "close", lambda: None),
    )


def rules_of(settings: Settings) -> Rules:
    """Return what the installation allows; what it has not been told it draws once, and keeps in its directory."""
    secret = settings.secret
    return Rules(
        class_code=settings.class_code or keys.class_code(settings.data),
        secret=secret.encode() if secret else keys.secret(settings.data),
        slots={"cpu": settings.slots},  # strangers' code gets no GPU: the sandbox has no door to a driver
        source_bytes=settings.source_kib << 10,
        session_seconds=settings.session_hours * 3600,
        drain_seconds=settings.drain_seconds,
    )


def grade_with(catalog: Catalog, box: Box) -> Grade:
    """Return the function that the engine grades with."""
    steps_of = _counter(catalog)

    def grade_one(submission: Submission, tracker: Tracker) -> Report:
        if submission.exercise not in catalog:
            raise GraderFault(f"the exercise {submission.exercise} is no longer there")
        tracker.expect(steps_of(submission.exercise))
        return grade(
            catalog[submission.exercise],
            submission.raw,
            seed=submission.seed,
            box=box,
            device=submission.device,
            progress=tracker,
            leash=tracker.leash,
        )

    return grade_one


def _counter(catalog: Catalog) -> Callable[[str], int]:
    @cache
    def count(exercise: str) -> int:
        # The seed decides the tensors, never how many calls there are.
        return len(draw_up(catalog[exercise], seed=0).plan.calls)

    return count
