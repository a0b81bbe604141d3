"""`attention-gym class …`: a class from the command line, in the administrator's name, and terms to be replayed."""

from __future__ import annotations

import typer

from grader.cli.replay import replay


def make_app() -> typer.Typer:
    """Return the commands of classes."""
    app = typer.Typer(help="Run a class: roster, assignments, grades; replay a term.", no_args_is_help=True)
    app.command("replay")(replay)
    return app
