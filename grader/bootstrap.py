"""Puts the service together from the settings; for serving only, since local grading needs neither store nor engine."""

from __future__ import annotations

import gc
import json
import logging
import socket
import subprocess
import sys
import threading
from dataclasses import fields, replace
from functools import partial
from pathlib import Path

import torch

from grader.box.run import Box, Limits
from grader.checks.registry import given_options
from grader.errors import AuthorError, GraderFault, SandboxUnavailable
from grader.exercise.catalog import ROOT, Catalog
from grader.jobs import archive
from grader.jobs.embedded import EmbeddedEngine
from grader.jobs.grading import grade_with, versions_with
from grader.jobs.live import Live
from grader.jobs.messages import Ready, Unavailable, send
from grader.jobs.stock import Stock
from grader.jobs.supervisor import SLOTS_EACH, WorkerSupervisor
from grader.jobs.worker import Retries
from grader.jobs.worker_protocol import RemoteProgress, lower_priority, serve_commands
from grader.judge.device_panels import PANEL_DTYPE, DevicePlace
from grader.log import set_up_log
from grader.sandbox import cgroup
from grader.sandbox.budget import MemoryBudget
from grader.sandbox.choice import choose_box
from grader.sandbox.gpu.box import DeviceBox
from grader.sandbox.gpu.found import there_is_a_gpu
from grader.sandbox.lockdown import oom
from grader.sandbox.runner import Sandbox
from grader.service import Service
from grader.service.service import Rules
from grader.settings import Settings
from grader.store import keys, migrate, private
from grader.store.engine import PATIENCE_SECONDS, Database

LOG = logging.getLogger(__name__)
ENTRY = "import sys; sys.path.insert(0, {root!r}); from grader.bootstrap import work; work({descriptor})"
WORKERS_A_RUN = 2  # the submission's and the reference's, side by side


def build(settings: Settings) -> Service:
    """Return the service, with its database up to date and its grading processes warm; it grades once it is started.

    Raises:
        SandboxUnavailable: this machine has no sandbox for strangers' code, or too little memory.
        AuthorError: an exercise is written wrongly.
    """
    catalog = read_exercises()
    settings = replace(settings, slots=slots_in_memory(settings, catalog))
    database = opened(settings)
    archive.keep(database, catalog)
    cgroup.settle()
    supervisor = WorkerSupervisor(database, partial(start_grading, settings), settings.slots)
    hello = supervisor.wait()
    return Service(
        database,
        catalog,
        supervisor,
        rules=rules_of(settings, with_gpu=hello.gpu),
        box_name=hello.box,
    )


def read_exercises(root: Path = ROOT) -> Catalog:
    """Return every exercise below `root`; what its checks are told is looked at now, not at the first submission.

    Raises:
        AuthorError: an exercise is written wrongly.
    """
    catalog = Catalog.load(root)
    for exercise in catalog.values():
        try:
            given_options(exercise.spec)
        except AuthorError as error:
            raise AuthorError(f"`{exercise.folder / 'exercise.toml'}`: {error}") from error
    return catalog


def budget_of(settings: Settings, catalog: Catalog) -> MemoryBudget:
    """Return what the service may use, by the settings or as this machine or container has it."""
    each = max((exercise.spec.limits.memory_bytes for exercise in catalog.values()), default=Limits().memory_bytes)
    return MemoryBudget((settings.memory_mib << 20) or cgroup.available(), each, SLOTS_EACH)


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
        SettingsError: other users of this machine may read it.
    """
    url = settings.database_url or settings.file_url
    private.secure(settings.data, private.file_of(url), accept_open=settings.allow_open_data)
    database = Database(url, patience=patience)
    migrate.upgrade(database)
    return database


def start_grading(settings: Settings, connection: socket.socket, place: int) -> subprocess.Popen[bytes]:
    """Start a grading process that talks over `connection`; the settings, which hold secrets, go into its input."""
    chosen = {field.name: getattr(settings, field.name) for field in fields(settings)}
    process = subprocess.Popen(
        [sys.executable, "-c", ENTRY.format(root=str(ROOT), descriptor=connection.fileno())],
        pass_fds=[connection.fileno()],
        stdin=subprocess.PIPE,
        start_new_session=True,  # the terminal's Ctrl+C is for the pages' process, which lets this one finish
    )
    assert process.stdin is not None
    with process.stdin as pipe:
        pipe.write(json.dumps([{**chosen, "data": str(settings.data)}, place]).encode())
    return process


def work(descriptor: int) -> None:
    """Be a grading process, up to the end of the conversation on `descriptor`; the first one has the GPU."""
    lower_priority()
    oom.stand_at(oom.GRADER)
    connection = socket.socket(fileno=descriptor)
    chosen, place = json.loads(sys.stdin.buffer.read())
    settings = Settings(**{**chosen, "data": Path(chosen["data"])})
    set_up_log(settings.log_format)
    torch.set_num_threads(1)  # the references' tensors are small, and every slot is a thread already
    try:
        catalog = Catalog.load()
        box = choose(settings, budget_of(settings, catalog).room(min(settings.slots, SLOTS_EACH)))
    except SandboxUnavailable as reason:
        send(connection, Unavailable(str(reason)))
        return
    gpu = choose_gpu(settings) if place == 0 else None
    relay = RemoteProgress(connection)
    threading.Thread(target=relay.keep_telling, daemon=True, name="relay").start()
    database = Database(settings.database_url or settings.file_url)
    stock = Stock(settings.data / "stock", catalog, settings.stock_mib << 20)
    engine = _engine(settings, catalog, database, (box, gpu), live=relay, stock=stock)
    gc.collect()
    gc.freeze()  # no need to look at torch's objects again and again
    send(connection, Ready(_name(box, gpu), gpu is not None))
    try:
        serve_commands(connection, engine)
    finally:
        close(box, gpu)


def choose(settings: Settings, room: int = 0) -> Box:
    """Return the box for strangers' code, with so many bytes of memory for all that runs in it together.

    Raises:
        SandboxUnavailable: this machine has no sandbox for strangers' code.
    """
    box = choose_box(allow_plain=False, allow_one_wall=settings.allow_one_wall, room=room)
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
    """Return a service that grades in this process and these boxes; the rest is for whoever cannot wait long."""
    database = opened(settings, patience)
    archive.keep(database, catalog)
    engine = _engine(settings, catalog, database, (box, gpu), retries=retries)
    return Service(
        database,
        catalog,
        engine,
        rules=rules_of(settings, with_gpu=gpu is not None),
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
    live: Live | None = None,
    retries: Retries | None = None,
    stock: Stock | None = None,
) -> EmbeddedEngine:
    box, gpu = boxes
    place = DevicePlace(gpu.device, PANEL_DTYPE, gpu, apart=True) if gpu else None
    return EmbeddedEngine(
        database,
        grade_with(catalog, box, place, stock),
        versions=versions_with(catalog),
        workers=settings.data / "workers",
        live=live,
        retries=retries,
        background=stock.fill if stock else None,
    )


def close(*boxes: Box | None) -> None:
    """Close the boxes that have something to close."""
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
