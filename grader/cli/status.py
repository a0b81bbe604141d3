"""`attention-gym status`: what is going on in an installation, while it runs and while it is stopped."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import asdict
from importlib import metadata
from typing import TYPE_CHECKING, Annotated, Any

import typer

from grader.judge.text import one_line
from grader.settings import Settings

if TYPE_CHECKING:
    from grader.jobs.overview import Heard, OpenFaults, QueueLoad
    from grader.store.engine import Database


def add_to(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command("status")(show_status)


def show_status(
    as_json: Annotated[bool, typer.Option("--json", help="Print one object of JSON, for programs.")] = False,
) -> None:
    """Say what waits, what is graded and by whom, which faults are open, and which versions these are."""
    # Here and not above: the store brings SQLAlchemy, which other commands do without.
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
        typer.echo(json.dumps(_document(database, queues, faults, workers) | {"versions": versions, "code": code}))
        return
    about = ", ".join(f"{name} {version}" for name, version in versions.items())
    for line in (f"versions: {about}", *_lines(database, queues, faults, workers), *mixed(code)):
        typer.echo(one_line(line))


def mixed(code: Mapping[str, int]) -> list[str]:
    """Return a line on the versions of the code that grades, if there are several, by how many processes run each."""
    if len(code) < 2:
        return []
    each = ", ".join(f"{version} ({number})" for version, number in sorted(code.items()))
    return [f"upgrade: grading processes differ: {each}; each result says which one it comes from"]


def _document(
    database: Database, queues: dict[str, QueueLoad], faults: OpenFaults, workers: list[Heard]
) -> dict[str, Any]:
    return {
        "database": database.place,
        "queues": {name: asdict(load) for name, load in queues.items()},
        "workers": [asdict(worker) for worker in workers],
        "faults": asdict(faults),
    }


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
