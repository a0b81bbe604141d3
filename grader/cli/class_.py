"""`attention-gym class …`: a class from the command line, in the administrator's name, and terms to be replayed.

With `--json` standard output holds nothing but JSON, an object a line.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from grader.cli.text import echo
from grader.local import WrongUse
from grader.settings import Settings

if TYPE_CHECKING:
    pass

JSON = Annotated[bool, typer.Option("--json", help="Write JSON, an object a line.")]
AT = Annotated[str, typer.Option("--at", help="As if it was this time: 2026-12-10T09:00:00-05:00; default: now.")]
APPLY = Annotated[bool, typer.Option("--apply", help="Do it; without this it is only shown what would change.")]


def make_app() -> typer.Typer:
    """Return the commands of classes."""
    app = typer.Typer(help="Run a class: roster, assignments, grades; replay a term.", no_args_is_help=True)
    app.command("replay")(replay)
    return app


def replay(
    file: Annotated[str, typer.Argument(help="A file of events, an object a line; `-`: standard input.")],
    as_json: JSON = False,
) -> None:
    """Play a term into an empty installation, each event at its own time; refusals of events are answers."""
    from grader.service.classes.replay import BadEvents, play, read_events
    from grader.store import classes

    with _database() as database:
        try:
            events = read_events(_content(file))
        except BadEvents as wrong:
            raise WrongUse(str(wrong)) from None
        with database.read() as session:
            if not classes.is_unused(session):
                raise WrongUse("there are people or submissions already; a term is played into an empty installation")
        done = refused = 0
        for answer in play(database, events):
            done, refused = done + answer["ok"], refused + (not answer["ok"])
            if as_json:
                write_json(answer)
            elif not answer["ok"]:
                echo(f"event {answer['n']}, {answer['do']}: {answer['code']}")
        if not as_json:
            echo(f"{done} events done, {refused} refused")


def _content(file: str) -> bytes:
    if file == "-":
        return sys.stdin.buffer.read()
    if not Path(file).is_file():
        raise WrongUse(f"there is no file {file!r}")
    return Path(file).read_bytes()


@contextmanager
def _database() -> Iterator[Any]:
    from grader.installation import opened

    with closing(opened(Settings.from_environment())) as database:
        yield database


def write_json(answer: Mapping[str, Any]) -> None:
    """Write an object in a line of its own, whatever its length."""
    sys.stdout.write(f"{json.dumps(answer)}\n")
