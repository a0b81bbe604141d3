"""What whoever runs the service needs: serve and worker, doctor, accounts, status, regrade, and moving it elsewhere."""

from __future__ import annotations

import json
import platform
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import asdict, replace
from enum import StrEnum
from functools import partial
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
TRUST = "Sign all kept grading files, which are Python that `regrade` runs: only if"


def add_to(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    app.command("serve")(serve_pages)
    app.command("worker")(work)
    app.command("doctor")(examine)
    app.command("class-code")(show_class_code)
    users = typer.Typer(help="The people of the class.")
    users.command("add")(add_user)
    users.command("reset")(reset_password)
    app.add_typer(users, name="user")
    app.command("status")(show_status)
    app.command("regrade")(regrade_one)
    app.command("rebuild")(rebuild_standings)
    app.command("move")(move_to)
    app.command("backup")(back_up_to)
    app.command("restore")(restore_from)
    app.command("migrate")(migrate_here)


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
) -> None:
    """Print the code with which students join the class."""
    from grader.installation import opened
    from grader.store import keys, memberships

    settings = Settings.from_environment()
    with closing(opened(settings)) as database:
        if new:
            with database.write() as session:
                memberships.replace_code(session, keys.drawn_code())
        with database.read() as session:
            replaced = memberships.code(session)
    echo(replaced or settings.class_code or keys.class_code(settings.data))


def add_user(
    name: Annotated[str, typer.Argument(help="What the person signs in with.")],
    instructor: Annotated[bool, typer.Option("--instructor", help="May see everybody's submissions.")] = False,
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
        user = service.add_user(name, password, Role.INSTRUCTOR if instructor else Role.STUDENT)
    echo(f"{user.name} can sign in now, as {'an instructor' if instructor else 'a student'}")


def reset_password(name: Annotated[str, typer.Argument(help="Whose password is forgotten.")]) -> None:
    """Print a link, good once and for 48 hours, with which somebody sets a new password."""
    with _service() as service:
        token = service.own_account.link_for(name)
    echo("Append this to the address of your pages, and give it to that person in private:", err=True)
    echo(f"/reset?token={token}")


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


# ---- what is going on, and what was graded


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


def regrade_one(
    id: Annotated[str, typer.Argument(help="The submission's id, as its page and the log name it.")],
    newest: Annotated[bool, typer.Option("--newest", help="Take the exercise as it is now.")] = False,
    store: Annotated[bool, typer.Option("--store", help="Let the new result count from now on.")] = False,
) -> None:
    """Grade a submission once more, as it was graded; exits with 0 if every digit is the same."""
    import torch

    from grader.installation import choose, close, known_secret
    from grader.jobs import regrade
    from grader.service.service import ID
    from grader.store.records import SubmissionId

    if not ID.fullmatch(id):
        raise WrongUse(f"{id!r} is no submission's id: that is 24 characters, digits and letters from a to f")
    torch.set_num_threads(1)  # as in the service: the tensors are small
    settings = Settings.from_environment()
    with ExitStack() as stack:
        database = stack.enter_context(closing(opened_service(settings)))
        box, secret, present = choose(settings), known_secret(settings), Catalog.load() if newest else None
        stack.callback(close, box)
        try:
            regraded = regrade.regrade(database, box, SubmissionId(id), secret=secret, newest=present)
            if store:
                regrade.keep(database, regraded, secret)
        except regrade.CannotRegrade as refusal:
            raise WrongUse(str(refusal)) from refusal
    compared = "every digit is the same" if regraded.same else "they differ"
    echo(f"before {regraded.before.score:.2f}, now {regraded.after.score:.2f}: {compared}")
    for difference in regraded.differences:
        echo(f"  {difference}")
    if store:
        echo("the new result counts from now on; the former is kept")
    raise typer.Exit(0 if regraded.same else 1)


def rebuild_standings() -> None:
    """Make the best scores, the leaderboards and the counts of mistakes anew from the stored results."""
    from grader.store import standings

    with closing(opened_service(Settings.from_environment())) as database, database.write() as session:
        standings.rebuild(session)
    echo("best scores, leaderboards and counts of mistakes are made anew")


# ---- carrying an installation elsewhere, and keeping it


def opened_service(settings: Settings) -> Database:
    """Return the database of the service, up to date.

    Raises:
        WrongUse: there is none yet.
    """
    from grader.installation import opened  # here: the store brings SQLAlchemy
    from grader.store import private

    file = private.file_of(settings.store_url)
    if file is not None and not file.exists():
        raise WrongUse(f"there is no database {str(file)!r}; {PREFIX}DATA names the folder of the service's data")
    return opened(settings)


def move_to(
    to: Annotated[str, typer.Option("--to", help="postgresql://user:password@host/name of an empty database.")],
) -> None:
    """Copy everything from the SQLite file to a Postgres; the service must be stopped, and the file stays."""
    from grader.installation import known_secret
    from grader.jobs import archive
    from grader.jobs.moving import move
    from grader.store.backup_file import KEPT
    from grader.store.copying import CannotMove
    from grader.store.engine import Database

    settings = Settings.from_environment()
    with closing(opened_service(settings)) as source, closing(Database(to)) as target:
        with source.read() as session:
            warning = archive.warning(session, known_secret(settings))
        try:
            moved = move(source, target, workers=settings.data / "workers")
        except CannotMove as refusal:
            raise WrongUse(str(refusal)) from refusal
        if warning:
            echo(warning, err=True)
        echo(f"{target.place} holds everything now; each table was read again and is the same:")
    for table, number in moved.items():
        echo(f"  {table}: {number}")
    echo("Set DATABASE_URL to that address, and start the service. Keep the SQLite file as a backup.")
    kept = [str(settings.data / name) for name in KEPT if (settings.data / name).exists()]
    if kept:
        echo(f"Not in a database: {', '.join(kept)}. Another machine that serves pages needs a copy.")


def back_up_to(file: Annotated[Path, typer.Argument(help="The file to write; it must not be there yet.")]) -> None:
    """Write everything into one file, readable by its owner only; the service may run meanwhile."""
    from grader.installation import present
    from grader.jobs.backup import back_up
    from grader.store.backup_file import KEPT, BackupRefused

    settings = Settings.from_environment()
    with closing(present(settings)) as database:
        try:
            made = back_up(database, settings.data, file, program=metadata.version("attention-gym"))
        except BackupRefused as refusal:
            raise WrongUse(str(refusal)) from refusal
    echo(f"{file}: {', '.join(f'{name} ({size} bytes)' for name, size in made.sizes.items())}")
    echo(f"tables of revision {made.revision}; `attention-gym restore` takes it on SQLite and on Postgres")
    for name in KEPT:
        if name not in made.sizes:
            echo(f"without {name}: it is not in {settings.data}; where it is a setting, keep that as well")


def migrate_here(
    trust_files: Annotated[bool, typer.Option("--trust-files", help=f"{TRUST} nobody else could write to it.")] = False,
) -> None:
    """Bring the database to the tables of this version; the service must be stopped, or take the new ones."""
    from grader.installation import known_secret, opened
    from grader.jobs import archive
    from grader.store import keys, migrate

    settings = Settings.from_environment()
    with closing(opened(settings, migrating=True)) as database:
        secret = known_secret(settings) or keys.secret(settings.data)
        if trust_files:
            with database.write() as session:
                archive.sign(session, secret)
        with database.read() as session:
            warning = archive.warning(session, secret)
        echo(f"{database.place} is at revision {migrate.check(database)}")
    if warning:
        echo(warning, err=True)


def restore_from(
    file: Annotated[Path, typer.Argument(help="A file that `backup` has written.")],
    trust_files: Annotated[bool, typer.Option("--trust-files", help=f"{TRUST} the backup is your own.")] = False,
) -> None:
    """Restore a backup into an installation that has no database yet, or an empty Postgres."""
    from grader.installation import known_secret
    from grader.jobs.backup import restore
    from grader.store import private
    from grader.store.backup_file import BackupRefused
    from grader.store.copying import CannotMove
    from grader.store.engine import Database

    settings = Settings.from_environment()
    private.secure(settings.data, private.file_of(settings.store_url), accept_open=settings.allow_open_data)
    with closing(Database(settings.store_url)) as target:
        try:
            secret = known_secret(settings)
            rows = restore(file, settings.data, target, secret=secret, trust=trust_files, say=partial(echo, err=True))
        except (BackupRefused, CannotMove) as refusal:
            raise WrongUse(str(refusal)) from refusal
        echo(f"{target.place} holds everything now:")
    for table, number in rows.items():
        echo(f"  {table}: {number}")
