"""`python -m grader move`: from SQLite to Postgres."""

from __future__ import annotations

from contextlib import closing
from typing import Annotated

import typer

from grader.cli.results import opened_service
from grader.local import WrongUse
from grader.settings import Settings

FILES = ("secret", "class_code")  # what the database does not hold, and what each machine with pages needs


def add_to(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command("move")(move_to)


def move_to(
    to: Annotated[str, typer.Option("--to", help="postgresql://user:password@host/name of an empty database.")],
) -> None:
    """Copy everything from the SQLite file to a Postgres; the service must be stopped, and the file stays."""
    # Here and not above: the store brings SQLAlchemy, which other commands do without.
    from grader.jobs.moving import move
    from grader.store.copying import CannotMove
    from grader.store.engine import Database

    settings = Settings.from_environment()
    with closing(opened_service(settings)) as source, closing(Database(to)) as target:
        try:
            moved = move(source, target, workers=settings.data / "workers")
        except CannotMove as refusal:
            raise WrongUse(str(refusal)) from refusal
        typer.echo(f"{target.place} holds everything now; each table was read again and is the same:")
    for table, number in moved.items():
        typer.echo(f"  {table}: {number}")
    typer.echo("Set DATABASE_URL to that address, and start the service. Keep the SQLite file as a backup.")
    kept = [str(settings.data / name) for name in FILES if (settings.data / name).exists()]
    if kept:
        typer.echo(f"Not in a database: {', '.join(kept)}. Another machine that serves pages needs a copy.")
