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
from grader.judge.panels import PANEL_DTYPE, Place
from grader.judge.report import Report
from grader.judge.sheet import draw_up
from grader.sandbox.choice import choose_box
from grader.sandbox.gpu.box import DeviceBox
from grader.sandbox.gpu.found import there_is_a_gpu
from grader.sandbox.runner import Sandbox
from grader.service import Service
from grader.service.service import Rules
from grader.settings import Settings
from grader.store import keys, migrate
from grader.store.engine import PATIENCE_SECONDS, Database
from grader.store.records import Submission

LOG = logging.getLogger(__name__)
WORKERS_A_RUN = 2  # the submission's and the reference's, side by side


def build(settings: Settings) -> Service:
    """Return the service, with its database up to date and its sandbox warm; it grades once it is started.

    Raises:
        SandboxUnavailable: this machine has no sandbox for strangers' code.
        AuthorError: an exercise is written wrongly.
    """
    torch.set_num_threads(1)  # the references' tensors are small, and every slot is a thread already
    return assemble(settings, Catalog.load(), choose(settings), gpu=choose_gpu(settings))


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
    """Return the service over these exercises and boxes; `retries` and `patience` for whoever cannot wait long."""
    database = Database(settings.database_url or settings.file_url, patience=patience)
    migrate.upgrade(database)
    engine = EmbeddedEngine(database, grade_with(catalog, box, gpu), workers=settings.data / "workers", retries=retries)
    return Service(
        database,
        catalog,
        engine,
        watching=Watching(database, engine.live),
        rules=rules_of(settings, with_gpu=gpu is not None),
        box_name=f"{box.name}; on request beside it a {gpu.name}" if gpu else box.name,
        closing=lambda: _close(box, gpu),
    )


def _close(*boxes: Box | None) -> None:
    for box in boxes:
        getattr(box, "close", lambda: None)()


def rules_of(settings: Settings, *, with_gpu: bool = False) -> Rules:
    """Return what the installation allows; what it has not been told it draws once, and keeps in its directory."""
    secret = settings.secret
    return Rules(
        class_code=settings.class_code or keys.class_code(settings.data),
        secret=secret.encode() if secret else keys.secret(settings.data),
        slots={"cpu": settings.slots, **({"cuda": settings.gpu_slots} if with_gpu else {})},
        source_bytes=settings.source_kib << 10,
        session_seconds=settings.session_hours * 3600,
        drain_seconds=settings.drain_seconds,
    )


def grade_with(catalog: Catalog, box: Box, gpu: DeviceBox | None = None) -> Grade:
    """Return the function that the engine grades with; whoever chose the GPU gets panels beside the verdict."""
    steps_of = _counter(catalog)
    beside = (Place("cpu", PANEL_DTYPE, box), Place(gpu.device, PANEL_DTYPE, gpu, apart=True)) if gpu else ()

    def grade_one(submission: Submission, tracker: Tracker) -> Report:
        if submission.exercise not in catalog:
            raise GraderFault(f"the exercise {submission.exercise} is no longer there")
        tracker.expect(steps_of(submission.exercise))
        return grade(
            catalog[submission.exercise],
            submission.raw,
            seed=submission.seed,
            box=box,
            places=() if submission.device == "cpu" else beside,
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
