"""`attention-gym regrade` and `rebuild`: what was graded, once more."""

from __future__ import annotations

from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Annotated

import typer

from grader.cli.written import echo
from grader.exercise.catalog import Catalog
from grader.local import WrongUse
from grader.settings import PREFIX, Settings

if TYPE_CHECKING:
    from grader.jobs.regrade import Regraded
    from grader.store.engine import Database


def add_to(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    app.command("regrade")(regrade_one)
    app.command("rebuild")(rebuild_standings)


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
    # Here and not above: the store brings SQLAlchemy, which other commands do without.
    from grader.store import standings

    with closing(opened_service(Settings.from_environment())) as database, database.write() as session:
        standings.rebuild(session)
    echo("best scores, leaderboards and counts of mistakes are made anew")


def _regraded(id: str, *, newest: bool, store: bool) -> Regraded:
    # Here and not above: the judge and the sandbox bring torch, which other commands do without.
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
            found = regrade.regrade(database, box, SubmissionId(id), secret=secret, newest=present)
            if store:
                regrade.keep(database, found, secret)
            return found
        except regrade.CannotRegrade as refusal:
            raise WrongUse(str(refusal)) from refusal


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
