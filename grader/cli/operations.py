"""`attention-gym serve`, `worker`, `doctor`, `status`, `class-code` and `user`: what whoever runs the service needs."""

from __future__ import annotations

import json
import platform
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, replace
from enum import StrEnum
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grader import stopping
from grader.cli.text import echo
from grader.exercise.catalog import Catalog
from grader.local import WrongUse
from grader.sandbox import doctor
from grader.settings import PREFIX, Settings

if TYPE_CHECKING:
    from grader.jobs.overview import Heard, OpenFaults, QueueLoad
    from grader.service.service import Service
    from grader.store.engine import Database

# Imported inside of the commands, and not here: the store brings SQLAlchemy, judge and sandbox torch, and the pages
# Gradio. Each takes seconds that the other commands do without.


class Device(StrEnum):
    """What can be graded on."""

    CPU = "cpu"
    GPU = "gpu"


_DEVICES = {Device.CPU: "cpu", Device.GPU: "cuda"}  # the queues
_DRIVERS = ("/dev/nvidiactl", "/dev/kfd", "/dev/dxg")  # NVIDIA's, AMD's, and what Windows lends to its Linux


def add_to(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    app.command("serve")(serve_pages)
    app.command("worker")(work)
    app.command("doctor")(examine)
    app.command("class-code")(show_class_code)
    users = typer.Typer(help="People and their accounts.")
    users.command("add")(add_user)
    users.command("reset")(reset_password)
    users.command("administrator")(appoint_administrator)
    app.add_typer(users, name="user")
    app.command("status")(show_status)


def serve_pages(
    pages_only: Annotated[
        bool, typer.Option("--pages-only", help="Leave the grading to machines that share a Postgres with this one.")
    ] = False,
) -> None:
    """Serve the pages, on http://127.0.0.1:7860 unless the settings say otherwise."""
    settings = Settings.from_environment()  # first: a wrong one is told at once
    from grader.pages.server import serve

    serve(settings, grading=not pages_only)


def work(
    queue: Annotated[list[Device] | None, typer.Option(help="What to grade on; all that is here if left out.")] = None,
    slots: Annotated[int | None, typer.Option(min=1, help="How many submissions at once on each.")] = None,
) -> None:
    """Grade here, without pages, what is handed in at machines that share a Postgres with this one."""
    settings = Settings.from_environment()
    if slots is not None:
        settings = replace(settings, slots=slots, gpu_slots=slots)
    stopping.stop_at_once()
    from grader.bootstrap import grade_until
    from grader.installation import keep_temporary_files
    from grader.log import set_up_log

    set_up_log(settings.log_format)
    stop = threading.Event()
    devices = [_DEVICES[one] for one in queue or Device]

    def ready(box: str) -> None:
        for known in (signal.SIGINT, signal.SIGTERM):
            signal.signal(known, lambda *_: stop.set())
        with suppress(BrokenPipeError):  # nobody reads; it grades all the same
            echo(f"grading on {', '.join(devices)}, in {box}")

    with keep_temporary_files(settings):
        grade_until(stop, settings, devices, ready)


def examine() -> None:
    """Say which walls this machine has; exits with 0 if it may grade for strangers."""
    settings = Settings.from_environment()
    found = doctor.probe()
    machine = f"Python {platform.python_version()}, torch {metadata.version('torch')}, GPU: {_gpu()}"
    for line in (*found.lines(), doctor.memory(), machine):
        echo(line)
    if found.tier == "C" and settings.allow_one_wall:
        echo(f"the settings accept this: {PREFIX}ALLOW_ONE_WALL is on, and strangers' code has one wall")
    elif found.tier not in ("A", "B"):
        echo("the service would refuse to start; grading your own files works, without a sandbox")
        if found.tier == "C":
            echo(f"{PREFIX}ALLOW_ONE_WALL=yes would start it all the same, with one wall around strangers' code")
        raise typer.Exit(1)


def _gpu() -> str:
    none = "none that torch can use"
    if sys.platform == "linux" and not any(Path(driver).exists() for driver in _DRIVERS):
        return none
    import torch  # here: it takes seconds, and where there is no driver there is nothing to ask it

    return torch.cuda.get_device_name() if torch.cuda.is_available() else none


# ---- people


def show_class_code(
    new: Annotated[bool, typer.Option("--new", help="Draw another one first; it takes effect at once.")] = False,
    school: Annotated[str, typer.Option("--class", help="The key of a class; the initial one if left out.")] = "",
) -> None:
    """Print the code with which students join a class."""
    from grader.store import keys

    with _service() as service:
        class_id = service.accounts.class_of_key(school)
        if new:
            service.accounts.replace_class_code(class_id, keys.drawn_code())
        code = service.accounts.class_code(class_id)
    if not code:
        raise WrongUse(f"the class {school} has no code, so nobody can join it; draw one with --new")
    echo(code)


def add_user(
    name: Annotated[str, typer.Argument(help="What the person signs in with.")],
    instructor: Annotated[bool, typer.Option("--instructor", help="May see everybody's submissions.")] = False,
    school: Annotated[str, typer.Option("--class", help="The key of a class; the initial one if left out.")] = "",
    from_stdin: Annotated[
        bool, typer.Option("--password-stdin", help="Read the password from standard input's first line.")
    ] = False,
) -> None:
    """Make an account; asks for the password."""
    from grader.store.records import Role

    if not from_stdin:
        password = typer.prompt("Password", hide_input=True, confirmation_prompt=True)
    elif not (password := sys.stdin.readline().rstrip("\r\n")):
        raise WrongUse("--password-stdin found nothing on standard input; write the password there, on one line")
    with _service() as service:
        class_id = service.accounts.class_of_key(school)
        user = service.add_user(name, password, Role.INSTRUCTOR if instructor else Role.STUDENT, class_id)
    echo(f"{user.name} can sign in now, as {'an instructor' if instructor else 'a student'}")


def reset_password(name: Annotated[str, typer.Argument(help="Whose password is forgotten.")]) -> None:
    """Print a link, good once and for 48 hours, with which somebody sets a new password."""
    with _service() as service:
        token = service.own_account.link_for(name)
    echo("Append this to the address of your pages, and give it to that person in private:", err=True)
    echo(f"/reset?token={token}")


def appoint_administrator(
    name: Annotated[str, typer.Argument(help="Whom, by what they sign in with.")],
    end: Annotated[bool, typer.Option("--end", help="They are none any more.")] = False,
) -> None:
    """Let somebody see and change every class of the installation on its pages."""
    with _service() as service:
        user = service.accounts.set_administrator(name, is_one=not end)
    now = "no administrator any more" if end else "an administrator now; all classes are at /classes"
    echo(f"{user.name} is {now}")


@contextmanager
def _service() -> Iterator[Service]:
    """Give the service, without exercises and a sandbox: nothing is graded here."""
    from grader.grading_process import assemble
    from grader.sandbox.plain import PlainBox

    service = assemble(Settings.from_environment(), Catalog([]), PlainBox())
    try:
        yield service
    finally:
        service.stop()


# ---- what is going on


def show_status(
    as_json: Annotated[bool, typer.Option("--json", help="Print one object of JSON, for programs.")] = False,
) -> None:
    """Say what waits, what is graded and by whom, which faults are open, and which versions these are."""
    from grader.exercise.versions import grader_version
    from grader.installation import present
    from grader.jobs import overview
    from grader.store import migrate

    settings = Settings.from_environment()
    with closing(present(settings)) as database:
        schema = migrate.check(database)
        with database.read() as session:
            queues, faults = overview.queues(session), overview.faults(session)
            workers = overview.workers(session, settings.data / "workers")
            code = overview.grading_code(session)
    versions = {"program": metadata.version("attention-gym"), "grading": grader_version(), "schema": schema}
    if as_json:
        document = {
            "database": database.place,
            "queues": {name: asdict(load) for name, load in queues.items()},
            "workers": [asdict(worker) for worker in workers],
            "faults": asdict(faults),
            "versions": versions,
            "code": code,
        }
        typer.echo(json.dumps(document))
        return
    about = ", ".join(f"{name} {version}" for name, version in versions.items())
    for line in (f"versions: {about}", *_lines(database, queues, faults, workers), *mixed(code)):
        echo(line)


def mixed(code: Mapping[str, int]) -> list[str]:
    """Return a line on the versions of the code that grades, if there are several, by how many processes run each."""
    if len(code) < 2:
        return []
    each = ", ".join(f"{version} ({number})" for version, number in sorted(code.items()))
    return [f"upgrade: grading processes differ: {each}; each result says which one it comes from"]


def _lines(database: Database, queues: dict[str, QueueLoad], faults: OpenFaults, workers: list[Heard]) -> Iterator[str]:
    yield f"database: {database.place.removeprefix('the ')}"
    for name, load in queues.items():
        oldest = f", the oldest for {load.oldest_seconds:.0f} s" if load.waiting else ""
        yield f"queue {name}: {load.waiting} waiting{oldest}; {load.running} being graded"
    if not workers:
        yield "workers: none; nothing is graded until the service or a worker is started"
    elif database.embedded:
        yield f"workers: {len(workers)} on this machine"
    else:
        longest = max(worker.seconds_ago for worker in workers)
        yield f"workers: {len(workers)} on all machines, each heard of in the last {longest:.1f} s"
    yield f"faults: {faults.retried} tried again, {faults.killed} after a kill, {faults.broken} broken for good"
