"""`attention-gym backup`, `restore`, `move`, `migrate`, `regrade` and `rebuild`: what is done with what is stored.

The store brings SQLAlchemy, and the judge and the sandbox torch, which other commands do without: so they are imported
where they are needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grader.cli.text import echo
from grader.exercise.catalog import Catalog
from grader.local import WrongUse
from grader.settings import PREFIX, Settings

if TYPE_CHECKING:
    from grader.jobs.regrade import Regraded
    from grader.store.engine import Database

TRUST = "Sign all kept grading files, which are Python that `regrade` runs: only if"


def add_to(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    app.command("move")(move_to)
    app.command("backup")(back_up_to)
    app.command("restore")(restore_from)
    app.command("migrate")(migrate_here)
    app.command("regrade")(regrade_one)
    app.command("rebuild")(rebuild_standings)


def move_to(
    to: Annotated[str, typer.Option("--to", help="postgresql://user:password@host/name of an empty database.")],
) -> None:
    """Copy everything from the SQLite file to a Postgres; the service must be stopped, and the file stays."""
    from grader.installation import known_secret
    from grader.jobs import archive
    from grader.jobs.backup import move
    from grader.store.dump import KEPT, DumpRefused
    from grader.store.engine import Database

    settings = Settings.from_environment()
    with closing(opened_service(settings)) as source, closing(Database(to)) as target:
        with source.read() as session:
            warning = archive.warning(session, known_secret(settings))
        with _told(DumpRefused):
            moved = move(source, target, settings.data)
        if warning:
            echo(warning, err=True)
        echo(f"{target.place} holds everything now; each table was read again and is the same:")
    _echo_rows(moved)
    echo("Set DATABASE_URL to that address, and start the service. Keep the SQLite file as a backup.")
    kept = [str(settings.data / name) for name in KEPT if (settings.data / name).exists()]
    if kept:
        echo(f"Not in a database: {', '.join(kept)}. Another machine that serves pages needs a copy.")


def back_up_to(file: Annotated[Path, typer.Argument(help="The file to write; it must not be there yet.")]) -> None:
    """Write everything into one file, readable by its owner only; the service may run meanwhile."""
    from grader.installation import present
    from grader.jobs.backup import back_up
    from grader.store.dump import KEPT, DumpRefused

    settings = Settings.from_environment()
    with closing(present(settings)) as database, _told(DumpRefused):
        made = back_up(database, settings.data, file)
    rows = f"{sum(made.rows.values())} rows of {len(made.rows)} tables"
    echo(f"{file}: {', '.join([rows, *made.kept])}")
    echo(f"tables of revision {made.revision}; `attention-gym restore` takes it on SQLite and on Postgres")
    for name in KEPT:
        if name not in made.kept:
            echo(f"without {name}: it is not in {settings.data}; where it is a setting, keep that as well")


@contextmanager
def _told(refusal: type[Exception]) -> Iterator[None]:
    """Let the command end with the words of a refusal in the block."""
    try:
        yield
    except refusal as reason:
        raise WrongUse(str(reason)) from reason


def _echo_rows(rows: Mapping[str, int]) -> None:
    for table, number in rows.items():
        echo(f"  {table}: {number}")


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
    from grader.store.dump import DumpRefused
    from grader.store.engine import Database

    settings = Settings.from_environment()
    private.secure(settings.data, private.file_of(settings.store_url), accept_open=settings.allow_open_data)
    with closing(Database(settings.store_url)) as target:
        with _told(DumpRefused):
            secret = known_secret(settings)
            rows = restore(file, settings.data, target, secret=secret, trust=trust_files, say=partial(echo, err=True))
        echo(f"{target.place} holds everything now:")
    _echo_rows(rows)


def regrade_one(
    id: Annotated[str, typer.Argument(help="The submission's id, as its page and the log name it.")],
    newest: Annotated[bool, typer.Option("--newest", help="Take the exercise as it is now.")] = False,
    store: Annotated[bool, typer.Option("--store", help="Let the new result count from now on.")] = False,
) -> None:
    """Grade a submission once more, as it was graded; exits with 0 if every digit is the same."""
    found = _regraded(id, newest=newest, store=store)
    compared = "every digit is the same" if found.same else "they differ"
    echo(f"before {found.before.score:.2f}, now {found.after.score:.2f}: {compared}")
    for difference in found.differences:
        echo(f"  {difference}")
    if store:
        echo("the new result counts from now on; the former is kept")
    raise typer.Exit(0 if found.same else 1)


def rebuild_standings() -> None:
    """Make the best scores, the leaderboards and the counts of mistakes anew from the stored results."""
    from grader.store import standings

    with closing(opened_service(Settings.from_environment())) as database, database.write() as session:
        standings.rebuild(session)
    echo("best scores, leaderboards and counts of mistakes are made anew")


def _regraded(id: str, *, newest: bool, store: bool) -> Regraded:
    import torch

    from grader.installation import choose, close, known_secret
    from grader.jobs import regrade
    from grader.service.service import ID
    from grader.store.records import SubmissionId

    if not ID.fullmatch(id):
        raise WrongUse(f"{id!r} is no submission's id: that has at most 40 letters, digits or signs of `_.-`")
    torch.set_num_threads(1)  # as in the service: the tensors are small
    settings = Settings.from_environment()
    with ExitStack() as stack:
        database = stack.enter_context(closing(opened_service(settings)))
        box, secret, present = choose(settings), known_secret(settings), Catalog.load() if newest else None
        stack.callback(close, box)
        with _told(regrade.CannotRegrade):
            found = regrade.regrade(database, box, SubmissionId(id), secret=secret, newest=present)
            if store:
                regrade.keep(database, found, secret)
        return found


def opened_service(settings: Settings) -> Database:
    """Return the database of the service, up to date.

    Raises:
        WrongUse: there is none yet.
    """
    from grader.installation import opened
    from grader.store import private

    file = private.file_of(settings.store_url)
    if file is not None and not file.exists():
        raise WrongUse(f"there is no database {str(file)!r}; {PREFIX}DATA names the folder of the service's data")
    return opened(settings)
