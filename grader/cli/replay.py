"""`attention-gym class replay`: a term is played into an empty installation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from grader.cli.text import content_of, echo, write_json
from grader.local import WrongUse
from grader.settings import Settings

if TYPE_CHECKING:
    from grader.service.classes.replay import TermClock, TimedEvent
    from grader.service.classes.requests import SourceGrading
    from grader.store.engine import Database

LARGEST = 1 << 28  # bytes of a file of events
CATALOG = Annotated[str, typer.Option("--catalog", help="A folder with other exercises to grade sources with.")]


def replay(
    file: Annotated[str, typer.Argument(help="A file of events, an object a line; `-`: standard input.")],
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON, an object a line.")] = False,
    catalog: CATALOG = "",
) -> None:
    """Play a term into an empty installation, each event at its own time; refusals of events are answers."""
    from grader.installation import opened
    from grader.service.classes.replay import BadEvents, TermClock, play, read_events
    from grader.store import classes

    with closing(opened(Settings.from_environment())) as database:
        try:
            events = read_events(content_of(file, LARGEST), Path() if file == "-" else Path(file).parent)
        except BadEvents as wrong:
            raise WrongUse(str(wrong)) from None
        with database.read() as session:
            if not classes.is_unused(session):
                raise WrongUse("there are people or submissions already; a term is played into an empty installation")
        clock, number = TermClock(), Counter[bool]()
        with _grading(database, clock, catalog) if _has_sources(events) else nullcontext() as grading:
            for answer in play(database, events, clock, grading):
                number[answer["ok"]] += 1
                _tell(answer, as_json=as_json)
        if not as_json:
            echo(f"{number[True]} events done, {number[False]} refused")


def _has_sources(events: list[TimedEvent]) -> bool:
    return any(event.fields.get("source") is not None for event in events)


@contextmanager
def _grading(database: Database, clock: TermClock, root: str) -> Iterator[SourceGrading]:
    from grader.exercise.catalog import ROOT, Catalog
    from grader.grading_process import grading_here
    from grader.installation import rules_of
    from grader.jobs import archive
    from grader.service.classes.requests import SourceGrading

    settings = Settings.from_environment()
    catalog, secret = Catalog.load(Path(root) if root else ROOT), rules_of(settings).secret
    archive.keep(database, catalog, secret)
    with grading_here(settings, database, catalog, clock) as queue:
        yield SourceGrading(queue, catalog, secret)


def _tell(answer: Mapping[str, Any], *, as_json: bool) -> None:
    if as_json:
        write_json(answer)
    elif not answer["ok"]:
        echo(f"event {answer['n']}, {answer['do']}: {answer['code']}")
