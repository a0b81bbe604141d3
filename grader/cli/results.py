"""`python -m grader regrade` and `rebuild`: what was graded, once more."""

from __future__ import annotations

from contextlib import closing
from typing import Annotated

import typer

from grader.exercise.catalog import Catalog
from grader.local import WrongUse
from grader.settings import Settings


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
    # Here and not above: the judge and the sandbox bring torch, which other commands do without.
    from grader.bootstrap import opened
    from grader.jobs import regrade
    from grader.sandbox.runner import Sandbox
    from grader.store.records import SubmissionId

    settings = Settings.from_environment()
    database, box = opened(settings), Sandbox()
    with closing(database), closing(box):
        try:
            found = regrade.regrade(database, Catalog.load(), box, SubmissionId(id), newest=newest)
        except regrade.CannotRegrade as refusal:
            raise WrongUse(str(refusal)) from refusal
        if store:
            regrade.keep(database, SubmissionId(id), found)
    compared = "every digit is the same" if found.same else "they differ"
    typer.echo(f"before {found.before.score:.2f}, now {found.after.score:.2f}: {compared}")
    for difference in found.differences:
        typer.echo(f"  {difference}")
    if store:
        typer.echo("the new result counts from now on; the former is kept")
    raise typer.Exit(0 if found.same else 1)


def rebuild_standings() -> None:
    """Make the best scores, the leaderboards and the counts of mistakes anew from the stored results."""
    # Here and not above: the store brings SQLAlchemy, which other commands do without.
    from grader.bootstrap import opened
    from grader.store import standings

    database = opened(Settings.from_environment())
    with closing(database), database.write() as session:
        standings.rebuild(session)
    typer.echo("best scores, leaderboards and counts of mistakes are made anew")
