"""`python -m grader move`, `backup` and `restore`: an installation is carried elsewhere, or kept."""

from __future__ import annotations

from contextlib import closing
from importlib import metadata
from pathlib import Path
from typing import Annotated

import typer

from grader.cli.results import opened_service
from grader.local import WrongUse
from grader.settings import Settings


def add_to(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    app.command("move")(move_to)
    app.command("backup")(back_up_to)
    app.command("restore")(restore_from)


def move_to(
    to: Annotated[str, typer.Option("--to", help="postgresql://user:password@host/name of an empty database.")],
) -> None:
    """Copy everything from the SQLite file to a Postgres; the service must be stopped, and the file stays."""
    # Here and not above: the store brings SQLAlchemy, which other commands do without.
    from grader.jobs.moving import move
    from grader.store.backup_file import KEPT
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
    kept = [str(settings.data / name) for name in KEPT if (settings.data / name).exists()]
    if kept:
        typer.echo(f"Not in a database: {', '.join(kept)}. Another machine that serves pages needs a copy.")


def back_up_to(file: Annotated[Path, typer.Argument(help="The file to write; it must not be there yet.")]) -> None:
    """Write everything into one file, readable by its owner only; the service may run meanwhile."""
    # Here and not above, as in `move_to`.
    from grader.installation import present
    from grader.jobs.backup import back_up
    from grader.store.backup_file import KEPT, BackupRefused

    settings = Settings.from_environment()
    with closing(present(settings)) as database:
        try:
            made = back_up(database, settings.data, file, program=metadata.version("attention-gym"))
        except BackupRefused as refusal:
            raise WrongUse(str(refusal)) from refusal
    typer.echo(f"{file}: {', '.join(f'{name} ({size} bytes)' for name, size in made.sizes.items())}")
    typer.echo(f"tables of revision {made.revision}; `python -m grader restore` takes it on SQLite and on Postgres")
    for name in KEPT:
        if name not in made.sizes:
            typer.echo(f"without {name}: it is not in {settings.data}; where it is a setting, keep that as well")


def restore_from(file: Annotated[Path, typer.Argument(help="A file that `backup` has written.")]) -> None:
    """Restore a backup into an installation that has no database yet, or an empty Postgres."""
    # Here and not above, as in `move_to`.
    from grader.jobs.backup import restore
    from grader.store import private
    from grader.store.backup_file import BackupRefused
    from grader.store.copying import CannotMove
    from grader.store.engine import Database

    settings = Settings.from_environment()
    private.secure(settings.data, private.file_of(settings.store_url), accept_open=settings.allow_open_data)
    with closing(Database(settings.store_url)) as target:
        try:
            rows = restore(file, settings.data, target)
        except (BackupRefused, CannotMove) as refusal:
            raise WrongUse(str(refusal)) from refusal
        typer.echo(f"{target.place} holds everything now:")
    for table, number in rows.items():
        typer.echo(f"  {table}: {number}")
