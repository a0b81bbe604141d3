"""`attention-gym move`, `backup`, `restore` and `migrate`: an installation is carried elsewhere, or kept."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Annotated

import typer

from grader.cli.results import opened_service
from grader.cli.written import echo
from grader.local import WrongUse
from grader.settings import Settings

TRUST = "Sign all kept grading files, which are Python that `regrade` runs: only if"


def add_to(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    app.command("move")(move_to)
    app.command("backup")(back_up_to)
    app.command("restore")(restore_from)
    app.command("migrate")(migrate_here)


def move_to(
    to: Annotated[str, typer.Option("--to", help="postgresql://user:password@host/name of an empty database.")],
) -> None:
    """Copy everything from the SQLite file to a Postgres; the service must be stopped, and the file stays."""
    # Here and not above: the store brings SQLAlchemy, which other commands do without.
    from grader.installation import known_secret
    from grader.jobs import archive
    from grader.jobs.backup import move
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
    echo(f"{file}: {', '.join(f'{name} ({size} bytes)' for name, size in made.sizes.items())}")
    echo(f"tables of revision {made.revision}; `attention-gym restore` takes it on SQLite and on Postgres")
    for name in KEPT:
        if name not in made.sizes:
            echo(f"without {name}: it is not in {settings.data}; where it is a setting, keep that as well")


def migrate_here(
    trust_files: Annotated[bool, typer.Option("--trust-files", help=f"{TRUST} nobody else could write to it.")] = False,
) -> None:
    """Bring the database to the tables of this version; the service must be stopped, or take the new ones."""
    # Here and not above, as in `move_to`.
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
    # Here and not above, as in `move_to`.
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
